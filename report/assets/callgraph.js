'use strict';
// Moves, scales and searches the picture. Where scripts do not run it stays as
// it is.
(() => {
  const svg = document.documentElement, view = document.getElementById('view');
  if (!view || svg.localName !== 'svg' || !svg.viewBox) return;
  const W = svg.viewBox.baseVal.width, H = svg.viewBox.baseVal.height;
  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  svg.setAttribute('height', '100%');
  svg.style.position = 'fixed';
  let k = 1, x = 0, y = 0;
  const apply = () => view.setAttribute('transform', `matrix(${k} 0 0 ${k} ${x} ${y})`);
  const fit = () => {
    k = Math.min(1, innerWidth / W, (innerHeight - 44) / H);
    x = Math.max(0, (innerWidth - W * k) / 2);
    y = 44;
    apply();
  };
  const zoom = (f, cx, cy) => {
    const n = Math.min(20, Math.max(0.02, k * f));
    x = cx - (cx - x) * n / k;
    y = cy - (cy - y) * n / k;
    k = n;
    apply();
  };
  const middle = (f) => zoom(f, innerWidth / 2, innerHeight / 2);

  svg.addEventListener('wheel', (e) => {
    e.preventDefault();
    if (e.shiftKey) {
      x -= e.deltaY + e.deltaX;
      apply();
    } else zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.clientX, e.clientY);
  }, {passive: false});

  // Two fingers scale, one moves.
  const down = new Map();
  let moved = 0;
  svg.addEventListener('pointerdown', (e) => {
    if (e.target.closest('#ui')) return;
    down.set(e.pointerId, e);
    moved = 0;
  });
  addEventListener('pointermove', (e) => {
    const before = down.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 4) return;
    if (down.size === 1) {
      x += dx;
      y += dy;
      apply();
    } else {
      const other = [...down.values()].find((p) => p.pointerId !== e.pointerId);
      const d = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY) || 1;
      zoom(d(e) / d(before), other.clientX, other.clientY);
    }
    down.set(e.pointerId, e);
  });
  for (const t of ['pointerup', 'pointercancel']) addEventListener(t, (e) => down.delete(e.pointerId));

  const nodes = [...view.querySelectorAll('.n')], lines = [...view.querySelectorAll('.e')];
  const title = (g) => g.querySelector('title').textContent;
  const say = (s) => { status.textContent = s; };
  const html = (tag, props) => Object.assign(document.createElementNS('http://www.w3.org/1999/xhtml', tag), props);
  const box = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
  for (const [a, v] of [['x', 8], ['y', 6], ['width', '100%'], ['height', 34]]) box.setAttribute(a, v);
  const ui = html('div', {id: 'ui'});
  const input = html('input', {type: 'search', placeholder: 'search (regular expression)'});
  input.setAttribute('aria-label', 'search by regular expression');
  const button = (text, label, act) => {
    const b = html('button', {textContent: text, onclick: act, title: label});
    b.setAttribute('aria-label', label);
    return b;
  };
  const status = html('span', {});
  status.setAttribute('role', 'status');
  ui.append(input, button('+', 'larger (+)', () => middle(1.25)), button('−', 'smaller (-)', () => middle(0.8)),
    button('fit', 'whole picture (0)', fit), button('1:1', 'natural size (1)', () => middle(1 / k)), status);
  box.append(ui);
  svg.append(box);

  const show = (g) => {
    if (k < 0.5) middle(0.9 / k);
    const s = g.getBoundingClientRect();
    x += innerWidth / 2 - s.left - s.width / 2;
    y += innerHeight / 2 - s.top - s.height / 2;
    apply();
  };
  let hits = [], at = -1;
  const search = () => {
    let re = null;
    hits = [];
    at = -1;
    try {
      re = input.value ? new RegExp(input.value, 'i') : null;
    } catch {
      say('not a regular expression');
      return;
    }
    for (const n of nodes) {
      const hit = re && re.test(title(n).split('\n')[0]);
      n.classList.toggle('hit', !!hit);
      n.classList.toggle('dim', !!re && !hit);
      if (hit) hits.push(n);
    }
    for (const l of lines) l.classList.toggle('dim', !!re);
    say(re ? `${hits.length} of ${nodes.length}` : '');
  };
  const step = (d) => {
    if (!hits.length) return;
    at = (at + d + hits.length) % hits.length;
    show(hits[at]);
    say(`${at + 1} of ${hits.length}: ${title(hits[at]).split('\n')[0]}`);
  };
  // pick shows a box with its callers and callees alone; null shows all.
  let picked = null;
  const pick = (n) => {
    picked = n === picked ? null : n;
    const near = new Set([picked]);
    for (const l of lines) {
      const {f, t} = l.dataset, on = !picked || 'n' + f === picked.id || 'n' + t === picked.id;
      l.classList.toggle('dim', !on);
      if (on && picked) near.add(document.getElementById('n' + f)).add(document.getElementById('n' + t));
    }
    for (const n of nodes) {
      n.classList.remove('hit');
      n.classList.toggle('dim', !!picked && !near.has(n));
    }
    if (picked) picked.classList.add('hit');
    say(picked ? title(picked).replaceAll('\n', ' · ') : '');
  };
  input.addEventListener('input', search);
  view.addEventListener('click', (e) => {
    const n = e.target.closest('.n');
    if (moved < 4 && !String(getSelection())) pick(n);
  });
  for (const n of nodes) {
    n.setAttribute('tabindex', '0');
    n.setAttribute('role', 'button');
    n.addEventListener('focus', () => {
      if (!n.matches(':focus-visible')) return;
      show(n);
      say(title(n).replaceAll('\n', ' · '));
    });
  }
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target === input) {
      if (e.key === 'Enter') step(e.shiftKey ? -1 : 1);
      if (e.key === 'Escape') {
        input.value = '';
        search();
        input.blur();
      }
      return;
    }
    const d = e.shiftKey ? 400 : 80;
    const act = {
      ArrowLeft: () => { x += d; }, ArrowRight: () => { x -= d; }, ArrowUp: () => { y += d; }, ArrowDown: () => { y -= d; },
      '+': () => middle(1.25), '=': () => middle(1.25), '-': () => middle(0.8), 0: fit, 1: () => middle(1 / k),
      '/': () => input.focus(), n: () => step(1), N: () => step(-1), Escape: () => { input.value = ''; picked = null; search(); },
      Enter: () => { if (e.target.classList && e.target.classList.contains('n')) pick(e.target); },
    }[e.key];
    if (!act || e.target.localName === 'button' && e.key === 'Enter') return;
    e.preventDefault();
    act();
    apply();
  });
  fit();
  // Letters that cannot be read help nobody: begin near the heaviest box then.
  if (k < 0.5 && nodes.length) {
    const size = (n) => parseFloat(n.querySelector('text').getAttribute('font-size'));
    const best = nodes.reduce((a, b) => size(b) > size(a) ? b : a);
    k = 0.6;
    x = y = 0;
    apply();
    show(best);
    // No empty margins while there is picture beyond the other side.
    x = W * k < innerWidth ? (innerWidth - W * k) / 2 : Math.max(innerWidth - W * k, Math.min(0, x));
    y = H * k < innerHeight - 44 ? 44 : Math.max(innerHeight - H * k, Math.min(44, y));
    apply();
  }
})();
