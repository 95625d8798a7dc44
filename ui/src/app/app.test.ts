// The whole page against the mocked IPC: it starts, opens a task, follows events, and says what went wrong.
import { emit } from '@tauri-apps/api/event';
import { clearMocks, mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, expect, test } from 'vitest';
import { faults } from '../../tests/axe';
import type { AppEvent, TaskRow } from '../ipc';
import { snapshot, TASKS } from '../mock/snapshot';
import App from './App.svelte';

afterEach(() => {
  cleanup();
  clearMocks();
});

type Answers = Record<string, (args: Record<string, unknown>) => unknown>;

function start(answers: Answers = {}) {
  const calls: string[] = [];
  const usual: Answers = {
    get_snapshot: () => snapshot(Date.now()),
    get_task: ({ id }) => TASKS.find((task) => task.row.id === id)?.view,
    seen: () => null,
  };
  mockWindows('main');
  const answer = (command: string, args: unknown) => {
    calls.push(command);
    return (answers[command] ?? usual[command])?.(args as Record<string, unknown>);
  };
  mockIPC(answer, { shouldMockEvents: true });
  return { ...render(App), calls };
}
const tell = (event: AppEvent) => emit('happened', event);

test('lists tasks, opens one and goes back', async () => {
  const { container, calls } = start();
  await fireEvent.click(await screen.findByTestId('task-row-packet'));
  expect(await screen.findByTestId('packet-body')).toBeTruthy();
  await waitFor(() => expect(calls).toContain('seen'));
  expect(await faults(container)).toEqual([]);
  await fireEvent.keyDown(document.body, { key: 'Escape' });
  expect(await screen.findByTestId('new-task-box')).toBeTruthy();
});

test('reads a task and opens it', async () => {
  let said = '';
  start({
    submit_task: ({ text }) => {
      said = String(text);
      return 'queued';
    },
  });
  const box = await screen.findByTestId('new-task-box');
  await fireEvent.input(box, { target: { value: 'Fix rounding' } });
  await fireEvent.keyDown(box, { key: 'Enter' });
  expect(said).toBe('');
  await fireEvent.click(screen.getByTestId('read-task'));
  expect((await screen.findByTestId('task-title')).textContent).toBe('vat-id.md');
  expect(said).toBe('Fix rounding');
});

test('follows events: a row moves, a notice stands until it was seen, a tray click opens', async () => {
  start();
  const row = await screen.findByTestId('task-row-queued');
  expect(row.textContent).toContain('Next');
  const working = TASKS.find((task) => task.row.id === 'swarm')?.row as TaskRow;
  await tell({ kind: 'rowChanged', row: { ...working, id: 'queued', title: 'vat-id.md' } });
  await waitFor(() => expect(screen.getByTestId('task-row-queued').textContent).toContain('Swarm'));
  await tell({ kind: 'notice', notice: { kind: 'needsYou', task: 'plan', text: 'A plan waits for you' } });
  expect((await screen.findByTestId('notices')).textContent).toContain('A plan waits for you');
  expect(screen.getByTestId('urgent').textContent).toBe('A plan waits for you');
  await tell({ kind: 'open', task: 'plan' });
  await waitFor(() => expect(screen.queryByTestId('notices')).toBeNull());
  expect(screen.getByTestId('task-title').textContent).toBe('Round invoice totals half up');
});

test('an error says what happened, what is safe and what to do', async () => {
  start({
    submit_task: () => {
      throw { code: 'noModel', message: 'there is no model for the Parser', hint: '' };
    },
  });
  await fireEvent.input(await screen.findByTestId('new-task-box'), { target: { value: 'x' } });
  await fireEvent.click(screen.getByTestId('read-task'));
  const error = await screen.findByTestId('error');
  expect(error.textContent).toContain('there is no model for the Parser');
  expect(error.textContent).toContain('Get a model that fits');
  expect((screen.getByTestId('new-task-box') as HTMLTextAreaElement).value).toBe('x');
});

test('the first run leads to a folder and a model', async () => {
  const empty = { ...snapshot(0), project: null, tasks: [] };
  start({ get_snapshot: () => ({ ...empty, models: { ...empty.models, models: [] } }) });
  expect(await screen.findByTestId('choose-folder')).toBeTruthy();
  expect((screen.getByTestId('read-task') as HTMLButtonElement).disabled).toBe(true);
});

test('a project that is not trusted asks to be', async () => {
  const base = snapshot(0);
  const edits: unknown[] = [];
  start({
    get_snapshot: () => ({ ...base, project: base.project && { ...base.project, trusted: false } }),
    set_settings: ({ edit }) => {
      edits.push(edit);
      return { ...base.settings, edit };
    },
  });
  await fireEvent.click(await screen.findByTestId('trust-project'));
  await waitFor(() => expect(screen.queryByTestId('trust-note')).toBeNull());
  expect(edits).toEqual([{ ...base.settings.edit, trusted: true }]);
});

test('places and the palette are reached by keys', async () => {
  const { container } = start({
    list_models: () => snapshot(0).models,
    get_metrics: () => ({ overview: { tasks: 0 }, cards: [], invented: [] }),
  });
  await screen.findByTestId('task-list');
  for (const [key, place] of [
    ['2', 'models-place'],
    ['3', 'metrics-place'],
    ['4', 'settings-place'],
  ] as const) {
    await fireEvent.keyDown(document.body, { key, ctrlKey: true });
    expect(await screen.findByTestId(place)).toBeTruthy();
    expect(await faults(container)).toEqual([]);
  }
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  expect(await screen.findByTestId('palette')).toBeTruthy();
});
