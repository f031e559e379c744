// node render.mjs MODULES CAST COLS ROWS OUT.png|OUT.gif [light]
//
// Draws the last screen of an asciinema recording as a browser's terminal shows it, or all of it as a film at twice the
// speed, with ffmpeg and gifsicle. MODULES is the folder with the packages of package.json, CHROMIUM the browser.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
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

/** What the program wrote until a time, without the way back to the normal screen if it has left already. */
function bytes(until = Infinity) {
  let all = '';
  for (const line of readFileSync(cast, 'utf8').split('\n').slice(1)) {
    try {
      const [at, kind, data] = JSON.parse(line);
      if (kind === 'o' && at <= until) all += data;
      if (kind === 'o') last = at;
    } catch {
      // The recording goes on while we read: its last line may be half a line.
    }
  }
  const left = all.lastIndexOf('\x1b[?1049l');
  return left > all.lastIndexOf('\x1b[?1049h') ? all.slice(0, left) : all;
}

let last = 0; // seconds, of the recording
const film = out.endsWith('.gif'), step = 0.6; // seconds between two pictures of a film

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
    window.show = async data => {
      t.reset();
      await new Promise(done => t.write(data, done));
      const frame = () => new Promise(requestAnimationFrame);
      await frame(); // drawn in the one
      await frame(); // shown in the next
    };
  }, { cols: +cols, rows: +rows, fontSize, theme });
  const draw = async (data, path) => {
    await page.evaluate(data => window.show(data), data);
    await page.locator('#t').screenshot({ path });
  };
  await draw(bytes(), out.replace(/gif$/, 'png'));
  if (film) {
    const frames = mkdtempSync(join(tmpdir(), 'film'));
    let n = 0;
    for (let t = 2 * step; t < last + 8 * step; t += step) { // the end stays for a while
      await draw(bytes(t), join(frames, `${String(n++).padStart(4, '0')}.png`));
    }
    const run = (program, ...words) => execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    const filter = 'split[a][b];[a]palettegen=max_colors=48:stats_mode=diff[p];[b][p]paletteuse=dither=none';
    const pictures = ['-framerate', String(2 / step), '-i', join(frames, '%04d.png')];
    run('ffmpeg', '-v', 'error', '-y', ...pictures, '-vf', filter, out);
    run('gifsicle', '-O3', '--lossy=20', '-o', out, out);
    rmSync(frames, { recursive: true });
    rmSync(out.replace(/gif$/, 'png'));
  }
} finally {
  await browser.close();
}
