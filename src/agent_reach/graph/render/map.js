(()=>{
const data=JSON.parse(document.getElementById('data').textContent),box=document.getElementById('find'),near=document.getElementById('near'),svg=document.querySelector('.picture svg');
const into=new Map(),out=new Map(),nodes=new Map(data.nodes.map(n=>[n.id,n]));
for(const e of data.edges){(out.get(e.s)||out.set(e.s,[]).get(e.s)).push(e);(into.get(e.t)||into.set(e.t,[]).get(e.t)).push(e)}
const el=(name,text,cls)=>{const x=document.createElement(name);if(text!=null)x.textContent=text;if(cls)x.className=cls;return x};
const list=(edges,end)=>{const ul=el('ul');edges=[...(edges||[])].sort((a,b)=>b.v-a.v);
 for(const e of edges.slice(0,200)){const li=el('li'),b=el('button',e[end]);b.type='button';b.onclick=()=>open(e[end]);li.append(b,el('div',[e.k,e.v.toFixed(2),e.w].filter(Boolean).join(' · '),'why'));ul.append(li)}
 if(!edges.length)ul.append(el('li',data.words.none,'none'));return ul};
function open(id){const n=nodes.get(id);if(!n)return;box.value=id;near.hidden=false;near.replaceChildren();near.append(el('h3',id));
 if(n.m)near.append(el('div',n.m,n.b?'broken':'why'));if(n.d)near.append(el('div',n.d,'why'));
 const pair=el('div',null,'pair'),a=el('div'),b=el('div');a.append(el('b',data.words.into),list(into.get(id),'s'));b.append(el('b',data.words.out),list(out.get(id),'t'));pair.append(a,b);near.append(pair);
 if(svg){svg.classList.add('focus');const ids=new Set([id]);svg.querySelectorAll('.e').forEach(e=>{const on=e.dataset.s===id||e.dataset.t===id;e.classList.toggle('on',on);if(on){ids.add(e.dataset.s);ids.add(e.dataset.t)}});let any=false;svg.querySelectorAll('.n').forEach(g=>{const on=ids.has(g.dataset.id);any=any||g.dataset.id===id;g.classList.toggle('on',on)});if(!any)svg.classList.remove('focus')}
}
function close(){near.hidden=true;if(svg)svg.classList.remove('focus')}
box.addEventListener('change',()=>{const v=box.value.trim();if(!v)return close();if(nodes.has(v))return open(v);const l=v.toLowerCase(),hit=data.nodes.find(n=>n.id.toLowerCase().includes(l));hit?open(hit.id):(near.hidden=false,near.replaceChildren(el('div',data.words.nothing,'none')))});
box.addEventListener('input',()=>{if(!box.value)close();else if(nodes.has(box.value))open(box.value)});
if(svg)svg.querySelectorAll('.n').forEach(g=>{g.tabIndex=0;g.onclick=()=>nodes.has(g.dataset.id)?open(g.dataset.id):0;g.onkeydown=e=>{if(e.key==='Enter')g.onclick()}});
document.addEventListener('keydown',e=>{if(e.key==='Escape'){box.value='';close()}});
})();
