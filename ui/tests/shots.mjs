// Photographs every state of the page in Chromium: 420 x 900 and wide, light and dark, both languages. Served with the
// CSP of the app, so what the app would block is blocked here too; any complaint of the console fails the run, and so does
// any fault that axe finds. Usage: node tests/shots.mjs [FOLDER] [NAME...] after `npm run build:mock`.
import { createServer } from 'node:http';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ui = fileURLToPath(new URL('..', import.meta.url));
const [folder = join(ui, 'shots'), ...only] = process.argv.slice(2);
const config = JSON.parse(readFileSync(join(ui, '../tauri.conf.json'), 'utf8'));
const csp = config.app.security.csp.replace('connect-src ipc:', "connect-src 'self' ipc:");
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };

const NARROW = { width: 420, height: 900 };
const WIDE = { width: 1200, height: 800 };
const shot = (name, query, size = NARROW, act = async () => {}) => ({ name, query, size, act });
const click = (testid) => (page) => page.getByTestId(testid).first().click();
const SHOTS = [
    shot('tasks-light', ''),
    shot('tasks-dark', 'theme=dark&world=busy'),
    shot('tasks-ko', 'lang=ko&world=busy'),
    shot('tasks-drop', 'drag'),
    shot('tasks-untrusted', 'world=untrusted'),
    { ...shot('tasks-contrast', 'world=busy'), contrast: 'more' },
    { ...shot('change-contrast-dark', 'task=change&theme=dark', NARROW, decide), contrast: 'more' },
    shot('tasks-wide', '', WIDE),
    shot('first-run', 'world=new'),
    shot('empty', 'world=empty'),
    shot('start-error', 'world=error'),
    shot('plan-light', 'task=plan'),
    shot('plan-dark', 'task=plan&theme=dark'),
    shot('plan-ko', 'task=korean&lang=ko'),
    shot('plan-edit', 'task=plan', NARROW, async (page) => {
        await page.locator('[data-step="2"]').focus();
        await page.keyboard.press('Alt+ArrowUp');
        await page.keyboard.press('e');
    }),
    shot('swarm-light', 'task=swarm'),
    shot('swarm-dark', 'task=swarm&theme=dark'),
    shot('tests-light', 'task=change', NARROW, click('way-tests')),
    shot('packet-light', 'task=packet'),
    shot('packet-dark', 'task=packet&theme=dark'),
    shot('packet-offline', 'task=packet&world=offline'),
    shot('verdict-light', 'task=change', NARROW, click('way-review')),
    shot('change-light', 'task=change', NARROW, decide),
    shot('change-dark', 'task=change&theme=dark', NARROW, decide),
    shot('change-ko', 'task=change&lang=ko', NARROW, decide),
    shot('change-wide', 'task=change', WIDE, decide),
    shot('change-wide-dark', 'task=change&theme=dark', WIDE, decide),
    shot('half', 'task=half'),
    shot('landed', 'task=landed'),
    shot('failed', 'task=failed'),
    shot('stuck', 'task=stuck'),
    shot('discard', 'task=plan', NARROW, click('discard')),
    shot('models-light', 'place=models'),
    shot('models-dark', 'place=models&theme=dark'),
    shot('metrics-light', 'place=metrics'),
    shot('metrics-empty', 'place=metrics&world=empty'),
    shot('settings-light', 'place=settings'),
    shot('settings-ko', 'place=settings&lang=ko'),
    shot('doctor', 'place=settings', NARROW, async (page) => {
        await page.getByTestId('run-doctor').click();
        await page.getByTestId('doctor').scrollIntoViewIfNeeded();
    }),
    shot('palette', '', NARROW, (page) => page.keyboard.press('Control+k')),
    shot('keys', '', NARROW, (page) => page.keyboard.press('?')),
    shot('egress', '', NARROW, click('egress-badge')),
    shot('swarm-wide', 'task=swarm', WIDE),
    shot('settings-wide', 'place=settings', WIDE),
];

async function decide(page) {
    await page.getByTestId('hunk-0').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('y');
}

const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://x').pathname;
    const file = join(ui, 'dist-mock', path === '/' ? 'index.html' : path);
    try {
        const body = readFileSync(file);
        response.writeHead(200, {
            'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
            'content-security-policy': csp,
        });
        response.end(body);
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}/`;

mkdirSync(folder, { recursive: true });
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
});
const faults = [];
for (const { name, query, size, act, contrast } of SHOTS.filter(
    ({ name }) => only.length === 0 || only.includes(name),
)) {
    const context = await browser.newContext({
        viewport: size,
        reducedMotion: 'reduce',
        contrast: contrast ?? 'no-preference',
    });
    // As `freezePrototype` of tauri.conf.json does.
    await context.addInitScript(() => Object.freeze(Object.prototype));
    const page = await context.newPage();
    page.on(
        'console',
        (message) => ['error', 'warning'].includes(message.type()) && faults.push(`${name}: ${message.text()}`),
    );
    page.on('pageerror', (error) => faults.push(`${name}: ${error.message}`));
    try {
        await page.goto(`${base}?${query}`);
        await page.locator('html[data-played]').waitFor({ state: 'attached', timeout: 10_000 });
        await page.waitForTimeout(150);
        await act(page);
        await page.waitForTimeout(100);
        await page.screenshot({ path: join(folder, `${name}.png`) });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (wide) faults.push(`${name}: wider than the window`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        for (const { id, help, nodes } of violations) {
            faults.push(`${name}: ${id} (${help}): ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
        }
    } catch (error) {
        faults.push(`${name}: ${error.message.split('\n')[0]}`);
    }
    await context.close();
}
await browser.close();
server.close();
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`${SHOTS.length} pictures in ${folder}, ${faults.length} faults\n`);
process.exit(faults.length ? 1 : 0);
