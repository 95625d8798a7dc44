// The real window with a real small model: open a task file, approve the plan, watch the verdict come, land it.
// Usage: node window.mjs STARLING WORK_DIR SHOTS_DIR REPO_ROOT, inside a D-Bus session and a display of its own.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Driver } from './webdriver.mjs';

const [starling, work, shots, root] = process.argv.slice(2);
const project = join(work, 'wordkit');
const children = [];

function start(command, args, log) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = createWriteStream(join(work, log));
  child.stdout.pipe(out);
  child.stderr.pipe(out);
  children.push(child);
  return child;
}

function expect(what, holds) {
  if (!holds) throw new Error(`not as expected: ${what}`);
  console.log(`ok: ${what}`);
}

const read = (file) => readFile(file, 'utf8').catch(() => '');

async function shot(driver, name) {
  await driver.screenshot(join(shots, `${name}.png`));
}

async function main() {
  await writeFile(
    join(work, 'data/settings.toml'),
    `project = ${JSON.stringify(project)}\noffline = true\n\n[roles]\n` +
      ['parser', 'planner', 'executor', 'tester', 'reviewer'].map((role) => `${role} = "qwen2.5-coder-0.5b"\n`).join('') +
      `\n[projects.${JSON.stringify(project)}]\ntrusted = true\nsend = "never"\n`,
  );
  start('/usr/bin/python3', ['-u', '-m', 'dbusmock', '--template', 'notification_daemon'], 'notifications.log');
  start('WebKitWebDriver', ['--port=4455'], 'driver.log');
  const task = join(root, 'assets/sample/tasks/rust-1-bug-truncate.md');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const driver = await Driver.open(4455, starling, ['window', '--project', project]);
  try {
    await driver.waitFor('new-task-box', 30);
    await shot(driver, '1-empty');
    expect('nothing left the machine at the start', (await driver.text('egress-badge')).includes('0 B'));

    // A second start hands the file to the window that is open, as dropping it on the window does.
    start(starling, ['window', '--task', task], 'second.log');
    const row = "document.querySelector('[data-testid^=\"task-row-\"]')";
    await driver.wait('the task in the list', () => driver.run(`return ${row} !== null || document.querySelector('[data-testid="task-page"]') !== null`), 30);
    await driver.run(`${row}?.click()`);
    await driver.waitFor('approve-plan', 240);
    await shot(driver, '2-plan');
    expect('the plan names the function', (await driver.text('plan')).includes('truncate'));

    await driver.click('approve-plan');
    await driver.waitFor('verdict', 420);
    await shot(driver, '3-verdict');
    expect('there is a change', (await driver.text('change')).includes('truncate'));

    await driver.click('accept-all');
    await driver.click('land');
    await driver.waitFor('proof', 30);
    await shot(driver, '4-landed');
    expect('the file of the project was changed', (await readFile(join(project, 'src/cut.rs'), 'utf8')).includes('chars().count()'));

    // The plan is notified too: only these sentences tell a verdict (src-tauri/src/window/words.rs).
    const verdict = /Notify .*(Approved: the change is ready|The reviewer (asks for changes|rejects the change)|Finished, but not proven)/;
    await driver.wait('the verdict on D-Bus', async () => verdict.test(await read(join(work, 'notifications.log'))), 10);
    console.log('ok: the verdict was notified');
  } catch (error) {
    await shot(driver, 'failed').catch(() => {});
    throw error;
  } finally {
    await driver.close().catch(() => {});
  }
}

main()
  .then(() => 0)
  .catch(async (error) => {
    console.error(error.message);
    for (const log of ['driver.log', 'notifications.log']) console.error(`--- ${log}\n${(await read(join(work, log))).slice(-2000)}`);
    return 1;
  })
  .then((code) => {
    for (const child of children) child.kill();
    process.exit(code);
  });
