// Drives one server or gateway with one of the two official TypeScript clients and prints what it got as JSON.
// node drive.mjs FOLDER '{"client": "sdk" | "client", "command": [...] | "url": "...", "cwd": "...", "calls": [[name, args], ...]}'
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [folder, text] = process.argv.slice(2);
const job = JSON.parse(text);
const resolve = createRequire(path.join(folder, 'package.json')).resolve;
const load = async (name) => import(pathToFileURL(resolve(name)).href);

async function parts() {
  if (job.client === 'sdk') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return { client: new Client({ name: 'drive', version: '1' }), StdioClientTransport, StreamableHTTPClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'drive', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  return { client, StdioClientTransport, StreamableHTTPClientTransport };
}

const { client, StdioClientTransport, StreamableHTTPClientTransport } = await parts();
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), cwd: job.cwd, env: process.env, stderr: 'ignore' });
await client.connect(transport);
const tools = [];
let cursor;
do {
  const page = await client.listTools(cursor ? { cursor } : {});
  tools.push(...page.tools.map((tool) => tool.name));
  cursor = page.nextCursor;
} while (cursor);
const results = [];
for (const [name, args] of job.calls) {
  try {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
    results.push({ content, structuredContent, isError });
  } catch (error) {
    results.push({ error: { code: error.code, message: String(error.message) } });
  }
}
const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? '';
process.stdout.write(JSON.stringify({ tools, results, version }));
await client.close();
process.exit(0);
