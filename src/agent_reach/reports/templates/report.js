"use strict";
(function () {
  var PAGE = 20;
  var cache = {};
  function data(id) {
    if (!(id in cache)) {
      var place = document.getElementById("data-" + id);
      cache[id] = place ? JSON.parse(place.textContent) : null;
    }
    return cache[id];
  }
  var words = data("words");
  var index = data("index");
  function by(id) { return document.getElementById(id); }
  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, function (all, name) { return name in values ? values[name] : all; });
  }
  // Every text becomes a text node: nothing that came from outside is ever read as markup.
  function h(tag, attributes) {
    var made = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    for (var i = 2; i < arguments.length; i++) { add(made, arguments[i]); }
    return made;
  }
  function add(parent, child) {
    if (child === null || child === undefined || child === "") { return; }
    if (Array.isArray(child)) { child.forEach(function (one) { add(parent, one); }); return; }
    parent.appendChild(child.nodeType ? child : document.createTextNode(String(child)));
  }
  // `name` between backticks becomes code, as in the sentences of the program itself.
  function ticks(text) {
    var pieces = text.split("`");
    return pieces.map(function (piece, place) {
      if (place % 2 === 0) { return piece; }
      return place === pieces.length - 1 ? "`" + piece : h("code", {}, piece);
    });
  }
  function css(name) { return { "class": name }; }

  /* one lost decision */
  function parts(segments, tag) {
    return h("code", {}, segments.map(function (part) { return part[1] ? h(tag, {}, part[0]) : part[0]; }));
  }
  function argumentRow(row) {
    var off = ["wrong", "missing", "illegal", "unknown"].indexOf(row.verdict) >= 0;
    var mark = off ? " off-row" : "";
    var did = row.did.length ? parts(row.did, "del") : h("em", {}, words.left_out);
    var nothing = { legal: words.any_legal, illegal: words.any_legal, unknown: words.no_such }[row.verdict] || words.none_expected;
    var should = row.should.length ? parts(row.should, "ins") : h("em", {}, nothing);
    var reason = row.reason || (off && row.verdict !== "missing" && row.verdict !== "unknown" ? row.word : "");
    return [
      h("div", css("name" + mark), (off ? "✗ " : row.verdict === "right" ? "✓ " : "") + row.name,
        row.optional ? h("span", css("quiet"), " " + words.optional) : null),
      h("div", css("did" + mark), did, reason ? h("span", css("reason"), reason) : null),
      h("div", css("should" + mark), should)
    ];
  }
  function sides(item) {
    var box = h("div", css("sides"));
    add(box, [h("div", css("head name"), ""), h("div", css("head did"), words.did), h("div", css("head should"), words.should)]);
    add(box, [
      h("div", css("name"), words.tool),
      h("div", css("did tool " + (item.same ? "on" : "off")), item.did || words.no_call),
      h("div", css("should tool"), item.should === null ? words.no_call_allowed : item.should)
    ]);
    item.rows.forEach(function (row) { add(box, argumentRow(row)); });
    return box;
  }
  function why(item) {
    var list = h("dl", css("why"));
    function entry(name, value, kind) { if (value) { add(list, [h("dt", {}, name), h("dd", kind ? css(kind) : {}, value)]); } }
    entry(words.unreadable, item.unreadable ? h("code", {}, item.unreadable) : null);
    if (item.sent) {
      entry(words.sent_as, [item.sent.arguments !== "null" ? h("code", {}, item.sent.arguments) : null,
        item.sent.changes.map(function (change) { return h("span", css("quiet small block"), change); })]);
    }
    if (item.outcome) {
      entry(words.outcome, [h("b", {}, item.outcome.word), " ", h("span", css("quiet"), item.outcome.parts.join(" · ")),
        item.outcome.detail ? h("code", css("block"), item.outcome.detail) : null]);
    }
    entry(words.evidence, item.error);
    if (item.cause) {
      entry(words.evidence, ticks(item.cause.evidence));
      entry(words.fix, ticks(item.cause.fix), "fix");
    }
    entry(words.also, item.also.length ? item.also.map(function (cause) {
      return h("span", css("block small"), h("b", {}, cause.label), " ", ticks(cause.evidence));
    }) : null);
    return list.childNodes.length ? list : null;
  }
  function block(entry) {
    var symbol = { used: "● ", unused: "○ ", not_identifiable: "◌ " }[entry.state] || "";
    return h("div", css("ctx " + entry.state),
      h("div", css("ctx-head"), h("b", {}, entry.id), h("span", {}, entry.kind + (entry.partition ? " / " + entry.partition : "")),
        entry.word ? h("span", css("verdict " + (entry.state === "used" ? "v-right" : "v-quiet")), (entry.state === "used" ? "" : symbol) + entry.word) : null,
        entry.fact ? h("span", {}, words.identified_by + " ", h("code", {}, entry.fact), entry.place ? " · " + words.found_in + " " + entry.place : "") : null),
      h("div", css("ctx-text"), entry.before, entry.mark ? h("mark", {}, entry.mark) : null, entry.after,
        entry.left ? h("span", css("quiet small"), " [… " + entry.left + " " + words.left_characters + "]") : null));
  }
  function talk(step) {
    return h("li", {}, h("b", {}, step.user ? words.user : words.model),
      h("div", {}, step.text ? h("p", {}, step.text) : null,
        step.calls.map(function (call) { return h("code", {}, call[0] + " " + call[1] + (call[2] ? "  → " + call[2] : "")); }),
        step.problems.map(function (problem) { return h("p", css("quiet small"), "✗ " + problem); })));
  }
  function context(item, chunk) {
    if (item.ctx === null || item.ctx === undefined) {
      return h("p", css("quiet small"), words.explain + " ", h("code", {}, "agent-reach explain REPORT " + item.task));
    }
    var ctx = chunk.contexts[item.ctx];
    var box = h("details", {}, h("summary", {}, words.blocks));
    function build() {
      if (box.childNodes.length > 1) { return; }
      if (ctx.offered) { add(box, h("p", css("quiet small"), ctx.offered)); }
      add(box, h("div", css("blocks"), ctx.blocks.map(block)));
      if (ctx.dropped.length) {
        add(box, [h("h4", {}, words.dropped), h("ul", css("list"), ctx.dropped.map(function (text) { return h("li", {}, "✂ " + text); }))]);
      }
      if (ctx.sources.length) {
        add(box, [h("h4", {}, words.sources), h("table", {}, h("tbody", {}, ctx.sources.map(function (row) {
          return h("tr", {}, h("td", {}, h("code", {}, row[0])), h("td", {}, h("code", {}, row[1])),
            h("td", {}, row[2] ? "← " + row[2] : h("b", {}, "? " + words.unsourced)));
        })))]);
      }
      if (ctx.steps.length) { add(box, [h("h4", {}, words.messages), h("ol", css("talk"), ctx.steps.map(talk))]); }
      if (item.raw) { add(box, [h("h4", {}, words.raw), h("pre", {}, item.raw)]); }
      if (ctx.final) { add(box, [h("h4", {}, words.final), h("p", css("small"), ctx.final)]); }
      if (ctx.error) { add(box, h("p", css("small"), ctx.error)); }
    }
    // Built when first opened: most contexts are never looked at.
    box.addEventListener("toggle", build);
    box.buildNow = build;
    return box;
  }
  function lost(item, chunk) {
    var where = item.task + (item.attempts > 1 ? " · " + words.attempt + " " + (item.attempt + 1) + "/" + item.attempts : "") +
      (item.step ? " · " + words.decision + " " + item.step + (item.golden ? " (" + item.golden + ")" : "") : "");
    var remarks = [item.verdict === "right" ? words.decision_right : "", item.kind, item.order ? words.order_wrong : "", item.detour ? words.detour : "",
      item.cause && item.cause.blame ? words.blame + " " + item.cause.blame : "", item.cause && item.cause.step ? "← " + item.cause.step : ""];
    return h("article", css("lost"),
      h("div", css("lost-head"), h("span", css("verdict v-" + (item.verdict === "right" ? "infra" : item.verdict)), item.label),
        item.cause ? h("span", css("chip"), item.cause.layer) : null,
        remarks.filter(Boolean).map(function (text) { return h("span", css("chip"), text); }),
        item.cause && item.cause.proof ? h("span", css("chip"), "§ " + item.cause.proof) : null,
        h("span", css("where"), where)),
      h("p", css("query"), item.query), sides(item), why(item), context(item, chunk));
  }

  /* paging: `show(rows)` is handed the rows of one page */
  function pager(place, size, show) {
    var rows = [], start = 0;
    var back = h("button", { type: "button" }, "← " + words.previous);
    var forth = h("button", { type: "button" }, words.next + " →");
    var label = h("span", { "aria-live": "polite" });
    add(place, [back, label, forth]);
    function draw() {
      show(rows.slice(start, start + size));
      back.disabled = start === 0;
      forth.disabled = start + size >= rows.length;
      place.hidden = rows.length <= size;
      label.textContent = fill(words.page, { from: start + 1, to: Math.min(start + size, rows.length), total: rows.length });
    }
    function move(by, anchor) { start += by; draw(); anchor.scrollIntoView({ block: "start" }); }
    back.addEventListener("click", function () { move(-size, place.closest("section")); });
    forth.addEventListener("click", function () { move(size, place.closest("section")); });
    return function (next) { rows = next; start = 0; draw(); };
  }
  function later(action) {
    var timer = 0;
    return function () { clearTimeout(timer); timer = setTimeout(action, 120); };
  }
  function startLost() {
    var list = by("lost-list"), search = by("lost-search"), cause = by("lost-cause");
    var show = pager(by("lost-pager"), PAGE, function (page) {
      list.textContent = "";
      page.forEach(function (number) {
        var chunk = data("lost-" + Math.floor(number / index.chunk));
        add(list, lost(chunk.items[number % index.chunk], chunk));
      });
      if (!page.length) { add(list, h("p", css("lead"), words.nothing)); }
    });
    function apply() {
      var wanted = search.value.trim().toLowerCase(), found = [];
      index.rows.forEach(function (row, number) {
        if (cause.value && row[1] !== cause.value) { return; }
        if (wanted && [row[0], row[2], row[3], row[4]].join("\n").toLowerCase().indexOf(wanted) < 0) { return; }
        found.push(number);
      });
      show(found);
    }
    by("lost-form").hidden = !index.rows.length;
    by("lost-form").addEventListener("submit", function (event) { event.preventDefault(); });
    search.addEventListener("input", later(apply));
    cause.addEventListener("change", apply);
    Array.prototype.forEach.call(document.querySelectorAll("button.go"), function (button) {
      var name = button.getAttribute("data-cause");
      button.hidden = !index.rows.some(function (row) { return row[1] === name; });
      button.addEventListener("click", function () {
        cause.value = name; search.value = ""; apply();
        by("lost").scrollIntoView({ block: "start" }); cause.focus({ preventScroll: true });
      });
    });
    if (index.rows.length) { apply(); }
  }

  /* the table of tools */
  function value(row, column) {
    var text = row.cells[column].getAttribute("data-sort");
    return text === "" || text === null ? null : (isNaN(text) ? text.toLowerCase() : Number(text));
  }
  function sortBy(table, column, direction) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row, place) { return [value(row, column), place, row]; });
    rows.sort(function (a, b) {
      // What was not measured stays at the end in both directions.
      if (a[0] === null || b[0] === null) { return (a[0] === null) - (b[0] === null) || a[1] - b[1]; }
      if (a[0] === b[0]) { return a[1] - b[1]; }
      return (a[0] < b[0] ? -1 : 1) * direction;
    });
    rows.forEach(function (entry) { body.appendChild(entry[2]); });
  }
  function startTools() {
    var table = by("tool-table"), filter = by("tool-filter"), shown = by("tool-count");
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var button = h("button", { type: "button" }, head.textContent);
      head.textContent = "";
      head.setAttribute("aria-sort", "none");
      add(head, button);
      button.addEventListener("click", function () {
        var up = head.getAttribute("aria-sort") === "none" ? column === 0 : head.getAttribute("aria-sort") === "descending";
        heads.forEach(function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sortBy(table, column, up ? 1 : -1);
      });
    });
    function apply() {
      var wanted = filter.value.trim().toLowerCase(), count = 0, rows = table.tBodies[0].rows;
      Array.prototype.forEach.call(rows, function (row) {
        var match = row.textContent.toLowerCase().indexOf(wanted) >= 0;
        row.hidden = !match;
        count += match ? 1 : 0;
      });
      shown.textContent = fill(words.shown, { shown: count, total: rows.length });
    }
    by("tool-form").hidden = table.tBodies[0].rows.length < 2;
    by("tool-form").addEventListener("submit", function (event) { event.preventDefault(); });
    filter.addEventListener("input", later(apply));
    apply();
  }

  /* the list of tasks */
  function startTasks() {
    var table = by("task-table"), filter = by("task-filter"), all = [];
    for (var number = 0; data("tasks-" + number); number++) { all = all.concat(data("tasks-" + number)); }
    var show = pager(by("task-pager"), 50, function (page) {
      var body = table.tBodies[0];
      body.textContent = "";
      page.forEach(function (row) {
        add(body, h("tr", {}, h("th", { scope: "row" }, row[0]), h("td", {}, row[1]), h("td", {}, row[2]), h("td", css("small"), row[3]),
          h("td", css("n"), row[4]), h("td", css("n"), row[5]), h("td", css("small"), row[6])));
      });
    });
    function apply() {
      var wanted = filter.value.trim().toLowerCase();
      show(all.filter(function (row) { return row.join("\n").toLowerCase().indexOf(wanted) >= 0; }));
    }
    table.hidden = !all.length;
    by("task-form").hidden = all.length < 2;
    by("task-form").addEventListener("submit", function (event) { event.preventDefault(); });
    filter.addEventListener("input", later(apply));
    apply();
  }

  function startTheme() {
    var button = by("theme"), root = document.documentElement;
    button.hidden = false;
    button.addEventListener("click", function () {
      var dark = root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    });
  }
  window.addEventListener("beforeprint", function () {
    Array.prototype.forEach.call(document.querySelectorAll("details"), function (box) {
      if (box.buildNow) { box.buildNow(); }
      box.open = true;
    });
  });
  startTheme();
  startLost();
  startTools();
  startTasks();
  document.documentElement.setAttribute("data-ready", "yes");
})();
