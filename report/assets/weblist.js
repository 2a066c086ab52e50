'use strict';
(() => {
  const bar = document.getElementById('bar');
  const folds = [...document.querySelectorAll('main details')];
  const heat = (r) => +((/\bw(\d)/.exec(r.className) || [])[1] || 0);
  const hot = [...document.querySelectorAll('.src>.r,.src>details>.r')].filter((r) => heat(r) >= 2);
  let at = -1;
  const go = (d) => {
    if (!hot.length) return;
    if (hot[at]) hot[at].classList.remove('at');
    at = (at + d + hot.length) % hot.length;
    const r = hot[at];
    r.classList.add('at');
    r.scrollIntoView({block: 'center'});
    if (r.localName === 'summary') r.focus({preventScroll: true});
    status.textContent = `${at + 1} of ${hot.length} heavy lines`;
  };
  const all = (open) => { for (const f of folds) f.open = open; };
  const button = (text, title, onclick) => {
    const b = Object.assign(document.createElement('button'), {textContent: text, title, onclick});
    bar.append(b);
  };
  const status = document.createElement('span');
  status.setAttribute('role', 'status');
  button('Previous', 'previous heavy line (p)', () => go(-1));
  button('Next heavy line', 'next heavy line (n)', () => go(1));
  if (folds.length) {
    button('Unfold all', 'instructions of all lines (e)', () => all(true));
    button('Fold all', 'source alone (c)', () => all(false));
  }
  bar.append(status);
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.localName === 'input') return;
    const step = (d) => {
      const list = [...document.querySelectorAll('summary.r')], i = list.indexOf(document.activeElement);
      const next = list[i < 0 ? 0 : i + d];
      if (next) next.focus();
    };
    const act = {n: () => go(1), p: () => go(-1), e: () => all(true), c: () => all(false), j: () => step(1), k: () => step(-1),
      ArrowRight: () => { const d = document.activeElement.parentElement; if (d && d.localName === 'details') d.open = true; },
      ArrowLeft: () => { const d = document.activeElement.parentElement; if (d && d.localName === 'details') d.open = false; }}[e.key];
    if (act) act();
  });
})();
