// The page of one task on recorded states: what is shown, what keys and buttons do, and that axe has nothing to say.
import { cleanup, fireEvent, render, screen, within } from '@testing-library/svelte';
import { afterEach, expect, test, vi } from 'vitest';
import { faults } from '../../../tests/axe';
import { TASKS } from '../../mock/snapshot';
import type { TaskActions } from './actions';
import { packetLines } from './packet';
import TaskPage from './TaskPage.svelte';

afterEach(cleanup);

function show(id: string, more: { offline?: boolean; wide?: boolean } = {}) {
  const task = TASKS.find((one) => one.row.id === id)?.view;
  if (!task) throw new Error(`no scene ${id}`);
  const names = ['approve', 'packet', 'sendPolicy', 'land', 'discard', 'cancel', 'resume', 'back', 'settings'] as const;
  const actions = Object.fromEntries(names.map((name) => [name, vi.fn()])) as Record<
    (typeof names)[number],
    ReturnType<typeof vi.fn>
  >;
  const props = {
    task,
    live: undefined,
    actions: actions as TaskActions,
    busy: false,
    wide: false,
    send: 'ask' as const,
    offline: false,
    project: 'p',
    ...more,
  };
  return { ...render(TaskPage, { props }), actions, task };
}
const press = (key: string, more: KeyboardEventInit = {}) => fireEvent.keyDown(window.document.body, { key, ...more });

test.each(TASKS.map((task) => task.row.id))('%s is drawn without a fault of accessibility', async (id) => {
  const { container } = show(id);
  expect(screen.getByTestId('task-title').textContent).not.toBe('');
  expect(await faults(container)).toEqual([]);
});

test('the plan is edited by keys and approved as edited', async () => {
  const { actions, container } = show('plan');
  const step = (id: string) => container.querySelector<HTMLElement>(`[data-step="${id}"]`) as HTMLElement;
  await fireEvent.keyDown(step('3'), { key: 'Delete' });
  await fireEvent.keyDown(step('2'), { key: 'e' });
  const box = within(step('2')).getByRole('textbox');
  await fireEvent.input(box, { target: { value: 'Round once' } });
  await fireEvent.keyDown(box, { key: 'Enter' });
  await fireEvent.click(screen.getByTestId('approve-plan'));
  const [[edit]] = actions.approve.mock.calls as [[{ steps: { id: string; goal: string }[] }]];
  expect(edit.steps.map(({ id, goal }) => [id, goal])).toEqual([
    ['1', 'Make round_cents round half up'],
    ['2', 'Round once'],
  ]);
});

test('a plan in a wrong order says why and cannot be approved', async () => {
  const { actions, container } = show('plan');
  await fireEvent.keyDown(container.querySelector('[data-step="2"]') as HTMLElement, { key: 'ArrowUp', altKey: true });
  expect(screen.getByTestId('plan').textContent).toContain('Step 2 needs step 1');
  expect((screen.getByTestId('approve-plan') as HTMLButtonElement).disabled).toBe(true);
  await press('Enter', { ctrlKey: true });
  expect(actions.approve).not.toHaveBeenCalled();
});

test('the packet shows the exact bytes, with secrets as blocks', () => {
  const { task } = show('packet');
  const body = screen.getByTestId('packet-body');
  expect(body.textContent).toBe(task.packet?.request?.json);
  expect(body.querySelectorAll('.redact')).toHaveLength(1);
  expect(body.textContent).not.toContain('ghp_');
  expect(screen.getByTestId('packet-price').textContent).toBe('$0.021');
});

test('a packet is sent or kept, never both, and never when offline', async () => {
  const { actions, unmount } = show('packet');
  await fireEvent.click(screen.getByTestId('keep-local'));
  expect(actions.packet.mock.calls).toEqual([[false]]);
  await fireEvent.click(screen.getByTestId('send-once'));
  expect(actions.packet.mock.calls).toEqual([[false], [true]]);
  unmount();
  const offline = show('packet', { offline: true });
  expect(screen.queryByTestId('send-once')).toBeNull();
  await press('Enter', { ctrlKey: true });
  expect(offline.actions.packet.mock.calls).toEqual([[false]]);
});

test('hunks are decided by keys, and only accepted ones land', async () => {
  const { actions } = show('change');
  expect((screen.getByTestId('land') as HTMLButtonElement).disabled).toBe(true);
  await press('y');
  await press('n');
  await press('y');
  expect(screen.getByTestId('land').textContent).toContain('Land 2 of 3 hunks');
  await press('Enter', { ctrlKey: true });
  expect(actions.land.mock.calls).toEqual([[[0, 2]]]);
  await fireEvent.click(screen.getByTestId('accept-all'));
  await fireEvent.click(screen.getByTestId('land'));
  expect(actions.land.mock.calls.at(-1)).toEqual([[0, 1, 2]]);
});

test('a finding is shown in its hunk and leads to it', async () => {
  show('change');
  expect(screen.getByTestId('hunk-1').textContent).toContain('No test with a rate of zero.');
  expect(screen.getByTestId('hunk-1').getAttribute('aria-label')).toBe(
    'hunk 2 of 3, tax_by_rate, 4 added, 3 removed, finding: No test with a rate of zero.',
  );
  await fireEvent.click(within(screen.getByTestId('verdict')).getByText('Show hunk 2'));
  expect(screen.getByTestId('hunk-1').classList).toContain('sel');
});

test('discarding asks once', async () => {
  const { actions } = show('ready');
  await fireEvent.click(screen.getByTestId('discard'));
  expect(actions.discard).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByTestId('discard-yes'));
  expect(actions.discard).toHaveBeenCalledOnce();
});

test('wings say in words how far each candidate came', () => {
  show('swarm');
  const lane = within(screen.getByTestId('lane-1'));
  expect(lane.getByLabelText('candidate 3, kept, passed 7 gates')).toBeTruthy();
  expect(lane.getByLabelText('candidate 2, fell at symbols')).toBeTruthy();
  expect(screen.getByTestId('lane-1').textContent).toContain('uses Decimal.round_half_up, which does not exist');
});

test('the proof and what failed are said in words', () => {
  const { unmount } = show('landed');
  expect(screen.getByTestId('proof').textContent).toContain('Bytes outside hunks identical.');
  unmount();
  show('failed');
  expect(screen.getByTestId('task-page').textContent).toContain('Nothing was changed.');
});

test.each([
  ['{"a":"x\\n«s#1»\\n"}', ['«s#1»']],
  ['## Goal\n\n+a\n-b', []],
  ['', []],
])('lines of a packet are the packet: %s', (body, marks) => {
  const joined = packetLines(body, marks).flatMap((line) => line.parts.map((part) => part.text));
  expect(joined.join('')).toBe(body);
});
