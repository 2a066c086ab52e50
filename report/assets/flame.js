'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const D = JSON.parse($('data').textContent);
  const ROW = 18, canvas = $('flame'), ctx = canvas.getContext('2d');
  const CLASSES = [['own code', '#4c83fa'], ['dependency', '#eddf8d'], ['standard library', '#9a9a9a'], ['runtime', '#c39bfc'],
    ['garbage collection', '#fca5c2'], ['system call', '#c76f25'], ['native', '#6cc465']];

  // Names and numbers.
  const pkg = (n) => D.packages[D.package[n]];
  const full = (n) => pkg(n) ? pkg(n) + '.' + D.names[n] : D.names[n];
  const short = (n) => pkg(n) ? pkg(n).replace(/\/v\d+$/, '').replace(/^.*\//, '') + '.' + D.names[n] : D.names[n];
  const FAMILIES = [[['b', 'byte'], [['B', 1], ['kB', 1024], ['MB', 2 ** 20], ['GB', 2 ** 30], ['TB', 2 ** 40]]],
    [['ns', 'nanosecond'], [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9], ['hrs', 3.6e12]]]];
  const unit = D.unit.toLowerCase().replace(/(..)s$/, '$1');
  const scale = (FAMILIES.find(([names]) => names.includes(unit)) || [])[1];
  const format = (v) => {
    v /= D.divide;
    if (!v) return '0';
    if (!scale) return v.toLocaleString('en', {maximumFractionDigits: 2}) + (D.unit && D.unit !== 'count' ? ' ' + D.unit : '');
    let s = scale[0];
    for (const t of scale) if (Math.abs(v) >= t[1]) s = t;
    return (v / s[1]).toFixed(2).replace(/\.00$/, '') + s[0];
  };
  const percent = (v, of) => !of ? '0%' : ((p) => p >= 99.95 ? p.toFixed(0) : p >= 1 ? p.toFixed(1) : p.toPrecision(2))(Math.abs(v / of) * 100) + '%';
  const signed = (v) => (v > 0 ? '+' : v < 0 ? '−' : '±') + format(Math.abs(v));

  // Trees. A node has weight w, base b, size s (what is as wide as it), its own
  // weight, and how many calls below it are too narrow to be here.
  const make = (n, parent) => ({n, parent, kids: [], depth: parent ? parent.depth + 1 : -1, w: 0, b: 0, own: 0, ownB: 0, narrow: 0, nw: 0, nb: 0, inline: false});
  const weigh = (t) => {
    t.s = Math.abs(t.own) + Math.abs(t.nw) + (D.diff ? Math.abs(t.ownB) + Math.abs(t.nb) : 0);
    for (const k of t.kids) t.s += k.s;
  };
  const post = (root, visit) => {
    const all = [root];
    for (let i = 0; i < all.length; i++) all.push(...all[i].kids);
    for (let i = all.length; i-- > 0;) visit(all[i]);
  };
  const trees = {}, hidden = {};
  const column = (s) => s ? s.split(',').map((x) => x ? parseInt(x, 36) : 0) : [];
  for (const v of D.views) {
    const root = make(-1, null), last = [root], nodes = [];
    const up = column(v.up), weight = column(v.weight), base = column(v.base);
    let depth = 0;
    column(v.name).forEach((n, i) => {
      depth -= up[i] || 0;
      const t = make(n, last[depth]);
      t.w = t.own = (weight[i] || 0) * D.times;
      t.b = t.ownB = (base[i] || 0) * D.times;
      t.parent.kids.push(t);
      last[++depth] = t;
      nodes.push(t);
    });
    let at = 0;
    for (const d of column(v.inline)) nodes[at += d].inline = true;
    at = 0;
    const narrow = column(v.narrow), nw = column(v.narrowWeight), nb = column(v.narrowBase);
    column(v.at).forEach((d, i) => {
      const t = i ? nodes[at += d] : root;
      t.narrow = narrow[i];
      t.nw = (nw[i] || 0) * D.times;
      t.nb = (nb[i] || 0) * D.times;
    });
    root.w = root.nw;
    root.b = root.nb;
    for (const t of nodes) {
      t.own -= t.nw;
      t.ownB -= t.nb;
      if (t.parent !== root) {
        t.parent.own -= t.w;
        t.parent.ownB -= t.b;
      } else {
        root.w += t.w;
        root.b += t.b;
      }
    }
    post(root, weigh);
    trees[v.key] = root;
    hidden[v.key] = [v.hidden, v.hiddenWeight];
  }

  // merge adds a branch of one tree to another.
  const child = (t, n) => {
    let k = t.kids.find((k) => k.n === n);
    if (!k) t.kids.push(k = make(n, t));
    return k;
  };
  const add = (to, t, sign = 1) => {
    for (const f of ['w', 'b', 'own', 'ownB', 'nw', 'nb', 'narrow']) to[f] += sign * t[f];
  };
  const finish = (root) => {
    post(root, (t) => { weigh(t); t.kids.sort((a, b) => b.s - a.s); });
    return root;
  };
  // sandwich finds who calls a function and what it calls, where it is outermost.
  const sandwich = (n) => {
    const up = make(n, null), down = make(n, null);
    const copy = (to, t) => {
      add(to, t);
      to.inline = t.inline;
      for (const k of t.kids) copy(child(to, k.n), k);
    };
    const walk = (t) => {
      if (t.n !== n) return t.kids.forEach(walk);
      copy(down, t);
      let at = up;
      for (let c = t; c.n >= 0; c = c.parent) {
        if (c !== t) at = child(at, c.n);
        at.w += t.w;
        at.b += t.b;
      }
      at.own += t.w;
      at.ownB += t.b;
    };
    walk(trees.callees);
    for (const t of [up, down]) t.depth = 0;
    const deepen = (t) => t.kids.forEach((k) => { k.depth = t.depth + 1; deepen(k); });
    deepen(up);
    deepen(down);
    return {up: finish(up), down: finish(down)};
  };

  // State.
  let view = 'callees', pair = null, zoomed = trees.callees, cur = null, hover = null, colour = D.diff ? 'change' : 'kind';
  let re = null, drawn = [], dark = matchMedia('(prefers-color-scheme: dark)');
  const inPair = () => view === 'sandwich';

  // Colours.
  const hash = (s) => {
    let h = 2166136261;
    for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619);
    return h >>> 0;
  };
  const cache = new Map();
  const mix = (a, b, t) => 'rgb(' + a.map((x, i) => Math.round(x + (b[i] - x) * t)).join(',') + ')';
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const fill = (t) => {
    if (t.n < 0) return dark.matches ? '#6c788a' : '#c8ced8';
    if (colour === 'change') {
      const most = Math.max(Math.abs(t.w), Math.abs(t.b)), d = most ? (t.w - t.b) / most : 0;
      return mix([213, 217, 223], d > 0 ? [240, 122, 58] : [74, 163, 223], Math.sqrt(Math.min(1, Math.abs(d))));
    }
    const key = colour + t.n;
    let c = cache.get(key);
    if (!c) {
      if (colour === 'package') {
        const h = hash(pkg(t.n) || D.names[t.n]);
        c = `hsl(${h % 360} ${45 + h / 360 % 30}% ${66 + h / 9000 % 12}%)`;
      } else c = mix(rgb(CLASSES[+D.class[t.n]][1]), [255, 255, 255], hash(full(t.n)) % 4 * 0.07);
      cache.set(key, c);
    }
    return c;
  };
  const own = (t) => colour === 'own' ? mix([225, 229, 235], [240, 122, 58], Math.sqrt(Math.min(1, Math.abs(t.own) / Math.max(1, maxOwn)))) : fill(t);
  let maxOwn = 1;
  post(trees.callees, (t) => { if (t.n >= 0) maxOwn = Math.max(maxOwn, Math.abs(t.own)); });

  // Drawing.
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const fit = (name, w) => {
    const n = Math.floor(w / 6.3), rest = D.names[name];
    if (n < 3) return '';
    if (short(name).length <= n) return short(name);
    if (rest.length <= n) return rest;
    const last = rest.replace(/^.*\)\./, '');
    return last.length <= n ? last : last.slice(0, n - 1) + '…';
  };
  const rows = (t) => {
    let most = t.depth;
    post(t, (k) => { most = Math.max(most, k.depth); });
    return most - t.depth + 1;
  };
  const place = (t, x, w, y, dir, limit) => {
    const stack = [[t, x, w, y]];
    while (stack.length) {
      const [t, x, w, y] = stack.pop();
      if (w < 0.4) continue;
      drawn.push({t, x, w, y});
      let at = x;
      for (const k of t.kids) {
        const kw = t.s ? w * k.s / t.s : 0;
        if (y + dir >= 0 && y + dir < limit) stack.push([k, at, kw, y + dir]);
        at += kw;
      }
    }
  };
  let width = 0, height = 0;
  const arrange = () => {
    drawn = [];
    width = $('stage').clientWidth;
    const most = 1500;
    if (inPair()) {
      const up = Math.min(rows(pair.up), 700), down = Math.min(rows(pair.down), 700);
      height = (up + down - 1) * ROW;
      place(pair.up, 0, width, up - 1, -1, up);
      drawn.shift();
      place(pair.down, 0, width, up - 1, 1, up + down - 1);
    } else {
      const path = [];
      for (let t = zoomed.parent; t; t = t.parent) path.unshift(t);
      const top = path.length;
      path.forEach((t, y) => drawn.push({t, x: 0, w: width, y, above: true}));
      const n = Math.min(most, top + rows(zoomed));
      height = n * ROW;
      place(zoomed, 0, width, top, 1, n);
    }
    const ratio = Math.min(devicePixelRatio || 1, 32000 / Math.max(width, height, 1));
    canvas.width = Math.max(1, width * ratio);
    canvas.height = Math.max(1, height * ratio);
    canvas.style.height = height + 'px';
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  };
  const paint = () => {
    const bg = css('--bg'), ring = css('--ring');
    ctx.fillStyle = bg;
    ctx.fillRect(0, 0, width, height);
    ctx.font = '12px system-ui,"Segoe UI",Roboto,sans-serif';
    ctx.textBaseline = 'middle';
    for (const {t, x, w, y, above} of drawn) {
      const hit = re && t.n >= 0 && re.test(full(t.n));
      ctx.globalAlpha = above ? 0.6 : re && !hit ? 0.28 : 1;
      ctx.fillStyle = own(t);
      // Inlined calls have no gap to their caller.
      const gap = t.inline ? 0 : 1;
      ctx.fillRect(x, y * ROW + gap, Math.max(w - 0.6, 0.4), ROW - gap);
      const text = t.n < 0 ? `all ${D.type} · ${format(trees[view === 'callers' ? 'callers' : 'callees'].w)}` : fit(t.n, w - 6);
      if (text && w >= 24) {
        ctx.globalAlpha = re && !hit ? 0.75 : 1;
        ctx.fillStyle = re && !hit && dark.matches && !above ? '#e6eaf0' : '#10141b';
        ctx.save();
        ctx.beginPath();
        ctx.rect(x, y * ROW, w - 2, ROW);
        ctx.clip();
        ctx.fillText(text, x + 4, y * ROW + ROW / 2 + 1);
        ctx.restore();
      }
      if (t === cur || t === hover) {
        ctx.globalAlpha = 1;
        ctx.strokeStyle = t === cur ? ring : css('--text');
        ctx.lineWidth = t === cur ? 2 : 1;
        ctx.strokeRect(x + 1, y * ROW + 1, Math.max(w - 2, 1), ROW - 2);
      }
    }
    ctx.globalAlpha = 1;
  };
  let asked = false;
  const repaint = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; paint(); });
  };

  // Words.
  const esc = (s) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const describe = (t) => {
    if (!t) return '';
    const root = trees[inPair() ? 'callees' : view];
    const name = t.n < 0 ? 'all' : esc(full(t.n));
    let s = `<b>${name}</b>${t.inline ? ' (inline)' : ''}${D.source && t.n >= 0 && D.source[t.n] ? ' · ' + esc(D.source[t.n]) : ''}<br>${format(t.w)}, ${percent(t.w, D.total)} of all`;
    if (!inPair() && zoomed.n >= 0) s += `, ${percent(t.w, zoomed.w)} of what is shown`;
    if (t.n >= 0 && !(inPair() && t.depth === 0)) s += ` · itself ${format(t.own)} (${percent(t.own, D.total)})`;
    if (D.diff) s += ` · before ${format(t.b)}, change ${signed(t.w - t.b)}${t.b ? ' (' + (t.w >= t.b ? '+' : '−') + percent(t.w - t.b, t.b) + ')' : ' (new)'}`;
    if (t.narrow) s += ` · ${t.narrow} more below, too narrow to be drawn (${format(t.nw)})`;
    return s;
  };
  const say = () => {
    let s = describe(cur || hover || zoomed);
    if (re) {
      // The weight of what matches, each stack once.
      let w = 0, n = 0;
      const walk = (t) => {
        if (t.n >= 0 && re.test(full(t.n))) {
          w += t.w;
          n++;
        } else t.kids.forEach(walk);
      };
      const root = inPair() ? pair.down : zoomed;
      walk(root);
      s = `Search: ${n} matches hold ${format(w)}, ${percent(w, root.w)} of what is shown.<br>` + s;
    }
    $('details').innerHTML = s;
  };
  const tip = $('tip');
  const showTip = (e, t) => {
    tip.hidden = !t;
    if (!t) return;
    tip.innerHTML = describe(t);
    const r = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - r.width - 6)) + 'px';
    tip.style.top = (e.clientY + 18 + r.height > innerHeight ? Math.max(4, e.clientY - r.height - 10) : e.clientY + 18) + 'px';
  };

  // Moves.
  const crumbs = () => {
    const path = [];
    if (inPair()) path.push(zoomed.n < 0 ? zoomed : trees.callees);
    else for (let t = zoomed; t; t = t.parent) path.unshift(t);
    const few = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
    $('crumbs').replaceChildren(...few.map((t) => {
      if (!t) return document.createTextNode('… ›');
      const b = document.createElement('button');
      b.textContent = t.n < 0 ? 'all' : short(t.n);
      b.onclick = () => inPair() ? show('callees') : zoom(t);
      return b;
    }).flatMap((b, i) => i ? [document.createTextNode('›'), b] : [b]));
    if (inPair()) $('crumbs').append(`› callers above and callees below ${short(pair.down.n)}${hidden.callees[0] ? ', as far as its boxes are wide enough to be in the file' : ''}`);
  };
  const refresh = () => {
    arrange();
    paint();
    crumbs();
    say();
    for (const b of $('bar').querySelectorAll('[data-view]')) b.setAttribute('aria-pressed', String(b.dataset.view === view));
    legend();
  };
  const zoom = (t) => {
    zoomed = t;
    cur = t.n < 0 ? null : t;
    refresh();
  };
  const show = (key) => {
    view = key;
    cur = hover = null;
    if (key !== 'sandwich') zoomed = trees[key];
    refresh();
  };
  const split = (n) => {
    if (n < 0 || n === undefined) return;
    pair = sandwich(n);
    show('sandwich');
    const y = drawn.find((d) => d.t === pair.down).y * ROW;
    scrollBy(0, canvas.getBoundingClientRect().top + y - innerHeight / 2);
  };
  const enter = (t) => {
    if (!t) return;
    if (inPair()) split(t.n);
    else zoom(t);
  };
  const reset = () => {
    search.value = '';
    re = null;
    show(view === 'callers' ? 'callers' : 'callees');
  };
  const at = (e) => {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = Math.floor((e.clientY - r.top) / ROW);
    return drawn.find((d) => d.y === y && x >= d.x && x < d.x + d.w)?.t || null;
  };
  canvas.addEventListener('pointermove', (e) => {
    const t = at(e);
    if (t !== hover) {
      hover = t;
      repaint();
    }
    showTip(e, t);
  });
  canvas.addEventListener('pointerleave', (e) => {
    hover = null;
    showTip(e, null);
    repaint();
  });
  canvas.addEventListener('click', (e) => {
    const t = at(e);
    if (!t) return;
    if (t === zoomed && t.parent) zoom(t.parent);
    else enter(t);
  });
  canvas.addEventListener('contextmenu', (e) => {
    const t = at(e);
    if (!t || t.n < 0) return;
    e.preventDefault();
    split(t.n);
  });
  const move = (key) => {
    const box = drawn.find((d) => d.t === cur) || drawn.find((d) => d.t === (inPair() ? pair.down : zoomed));
    if (!box) return;
    const mid = box.x + box.w / 2;
    let next = null;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const row = drawn.filter((d) => d.y === box.y).sort((a, b) => a.x - b.x), i = row.indexOf(box);
      next = row[i + (key === 'ArrowLeft' ? -1 : 1)];
    } else {
      const dy = key === 'ArrowUp' ? -1 : 1, row = drawn.filter((d) => d.y === box.y + dy);
      // To the caller, or to the widest of those that are called.
      next = row.find((d) => d.t === box.t.parent) || row.find((d) => d.t === box.t.kids[0]) || row.find((d) => mid >= d.x && mid < d.x + d.w && d.t.parent === box.t);
    }
    if (!next) return;
    cur = next.t;
    paint();
    say();
    const r = canvas.getBoundingClientRect(), y = r.top + next.y * ROW;
    if (y < 0 || y > innerHeight - 4 * ROW) scrollBy(0, y - innerHeight / 2);
  };
  canvas.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {
      Enter: () => enter(cur), ' ': () => enter(cur), Backspace: () => { if (!inPair() && zoomed.parent) zoom(zoomed.parent); },
      Escape: () => { if (tip.hidden) reset(); else tip.hidden = true; },
      '/': () => search.focus(), i: () => { if (trees.callers) show(view === 'callers' ? 'callees' : 'callers'); },
      s: () => split((cur || hover || zoomed).n), c: () => { paints.selectedIndex = (paints.selectedIndex + 1) % paints.length; paints.onchange(); },
    }[e.key] || (e.key.startsWith('Arrow') ? () => move(e.key) : null);
    if (!act) return;
    e.preventDefault();
    act();
  });

  // The bar.
  const el = (tag, props, ...kids) => {
    const x = Object.assign(document.createElement(tag), props);
    x.append(...kids);
    return x;
  };
  const viewButton = (key, text, title) => {
    const b = el('button', {textContent: text, title, onclick: () => key === 'sandwich' ? split((cur || zoomed).n < 0 ? trees.callees.kids[0]?.n : (cur || zoomed).n) : show(key)});
    b.dataset.view = key;
    return b;
  };
  const search = el('input', {type: 'search', placeholder: 'search: regular expression', title: 'key /'});
  search.setAttribute('aria-label', 'search functions by regular expression');
  search.addEventListener('input', () => {
    try {
      re = search.value ? new RegExp(search.value, 'i') : null;
    } catch { // then it is meant as it is written
      re = new RegExp(search.value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
    }
    paint();
    say();
  });
  search.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') {
      search.value = '';
      search.dispatchEvent(new Event('input'));
    }
    if (e.key === 'Enter' || e.key === 'Escape') canvas.focus();
  });
  const choices = [['kind', 'kind of code'], ['package', 'package'], ['own', 'own weight']];
  // One kind everywhere tells nothing; then packages are told apart.
  if (CLASSES.some((_, i) => D.class.split(String(i)).length - 1 > 0.8 * D.class.length)) choices.unshift(...choices.splice(1, 1));
  if (D.diff || trees.callees.kids.some((t) => t.w < 0)) choices.unshift(['change', 'change']);
  const paints = el('select', {onchange: () => { colour = paints.value; paint(); legend(); }}, ...choices.map(([value, text]) => el('option', {value, textContent: text})));
  colour = choices[0][0];
  $('bar').append(search, viewButton('callees', 'From the root', 'callees below callers'));
  if (trees.callers) $('bar').append(viewButton('callers', 'Inverted', 'from the leaf up (key i)'));
  $('bar').append(viewButton('sandwich', 'Sandwich', 'callers and callees of the chosen function (key s, or right click)'),
    el('label', {}, 'colour', paints), el('button', {textContent: 'Reset', title: 'key Escape', onclick: reset}));
  const swatch = (c, text) => {
    const i = el('i', {});
    i.style.background = c;
    return el('span', {}, i, text);
  };
  const legend = () => {
    const list = [];
    if (colour === 'kind') {
      const used = new Set(D.class);
      CLASSES.forEach(([text, c], i) => { if (used.has(String(i))) list.push(swatch(c, text)); });
    } else if (colour === 'change') list.push(swatch('rgb(240,122,58)', '+ grew'), swatch('rgb(213,217,223)', '± same'), swatch('rgb(74,163,223)', '− shrank'));
    else if (colour === 'package') list.push(el('span', {textContent: 'one colour for each package'}));
    else list.push(swatch('rgb(240,122,58)', 'heaviest in itself'), swatch('rgb(225,229,235)', 'only by what it calls'));
    const [n, w] = hidden[view === 'callers' ? 'callers' : 'callees'];
    if (n) list.push(el('span', {textContent: `${n.toLocaleString('en')} boxes are too narrow to be drawn: they and what they call hold ${percent(w, D.total)}`}));
    list.push(el('span', {textContent: 'Click zooms, right click shows callers and callees; keys: arrows, Enter, Backspace, Escape, /'}));
    $('legend').replaceChildren(...list);
  };

  // The table: every function with what it is itself, and with what it calls.
  const fillTable = () => {
    const own = new Map(), cum = new Map();
    const walk = (t, seen) => {
      const first = t.n >= 0 && !seen.has(t.n);
      if (t.n >= 0) own.set(t.n, (own.get(t.n) || 0) + t.own);
      if (first) {
        cum.set(t.n, (cum.get(t.n) || 0) + t.w);
        seen.add(t.n);
      }
      for (const k of t.kids) walk(k, seen);
      if (first) seen.delete(t.n);
    };
    walk(trees.callees, new Set());
    // The inverted view knows what functions are themselves, wherever they are.
    for (const t of trees.callers ? trees.callers.kids : []) {
      own.set(t.n, t.w);
      if (Math.abs(cum.get(t.n) || 0) < Math.abs(t.w)) cum.set(t.n, t.w);
    }
    const least = hidden.callees[0] ? ' (at least)' : '';
    const list = [...cum.keys()].sort((a, b) => Math.abs(own.get(b)) - Math.abs(own.get(a)) || Math.abs(cum.get(b)) - Math.abs(cum.get(a)));
    const row = (tag, cells) => el('tr', {}, ...cells.map((c) => el(tag, {}, c)));
    const body = list.slice(0, 200).map((n) => row('td', [format(own.get(n)), percent(own.get(n), D.total), format(cum.get(n)), percent(cum.get(n), D.total),
      el('button', {textContent: full(n), title: 'callers and callees', onclick: () => split(n)})]));
    $('top').querySelector('div').replaceChildren(el('table', {}, row('th', ['itself' + (trees.callers ? '' : least), '', 'with calls' + least, '', 'function']), ...body));
  };
  $('top').addEventListener('toggle', fillTable, {once: true});

  addEventListener('resize', refresh);
  dark.addEventListener('change', refresh);
  refresh();
  canvas.focus({preventScroll: true});
})();
