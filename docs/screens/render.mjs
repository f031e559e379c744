// node render.mjs MODULES CAST COLS ROWS OUT.png [light]
//
// Draws the last screen of an asciinema recording as a browser's terminal shows it. MODULES is the folder with the
// packages of package.json, CHROMIUM the browser to use.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, cast, cols, rows, out, tone] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const file = name => readFileSync(require.resolve(name), 'utf8');
const { chromium } = require('playwright-core');

// A letter of DejaVu Sans Mono is 0.602 of its size wide. With cells of whole pixels, 8 x 15 here, borders have no
// steps; and as 15 is a little less than a letter's height, they have no gaps.
const fontSize = 13.3;

const theme = tone === 'light'
  ? { background: '#ffffff', foreground: '#1f2328' }
  : { background: '#0f1117', foreground: '#d4d7dd' };

/** What the program wrote, without the way back to the normal screen if it has left already. */
function bytes() {
  let all = '';
  for (const line of readFileSync(cast, 'utf8').split('\n').slice(1)) {
    try {
      const [, kind, data] = JSON.parse(line);
      if (kind === 'o') all += data;
    } catch {
      // The recording goes on while we read: its last line may be half a line.
    }
  }
  const left = all.lastIndexOf('\x1b[?1049l');
  return left > all.lastIndexOf('\x1b[?1049h') ? all.slice(0, left) : all;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, // with a new, empty profile each time
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
});
try {
  const page = await browser.newPage({ viewport: { width: cols * 9 + 40, height: rows * 20 + 40 } });
  await page.setContent(`<style>${file('@xterm/xterm/css/xterm.css')}
    #t { display: inline-block; padding: 8px; background: ${theme.background} }</style><div id="t"></div>`);
  await page.addScriptTag({ content: file('@xterm/xterm') });
  await page.addScriptTag({ content: file('@xterm/addon-unicode11') });
  await page.evaluate(async ({ cols, rows, fontSize, theme, data }) => {
    const fontFamily = 'DejaVu Sans Mono';
    const t = new Terminal({ cols, rows, theme, fontFamily, fontSize, scrollback: 0, allowProposedApi: true });
    t.loadAddon(new Unicode11Addon.Unicode11Addon()); // the widths that today's terminals agree on
    t.unicode.activeVersion = '11';
    t.open(document.getElementById('t'));
    await new Promise(done => t.write(data, done));
    const frame = () => new Promise(requestAnimationFrame);
    await frame(); // drawn in the one
    await frame(); // shown in the next
  }, { cols: +cols, rows: +rows, fontSize, theme, data: bytes() });
  await page.locator('#t').screenshot({ path: out });
} finally {
  await browser.close();
}
