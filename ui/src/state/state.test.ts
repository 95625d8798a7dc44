// Folds over recorded events: what Rust writes, the page reads.
import { expect, test } from 'vitest';
import type { AppEvent, HunkView } from '../ipc';
import { snapshot, TASKS } from '../mock/snapshot';
import { accepted, nextOpen, numbered } from './hunks';
import { editOf, moved, outOfOrder, without } from './plan';
import { grouped, rowsAfter, viewAfter } from './tasks';
import { marks, placeOf } from './way';
import { worldAfter, worldOf, type World } from './world';

const scene = (id: string) => {
  const found = TASKS.find((task) => task.row.id === id);
  if (!found) throw new Error(`no scene ${id}`);
  return found;
};
const start = (): World => worldOf(snapshot(1_000_000_000));
const after = (world: World, ...events: AppEvent[]) => events.reduce(worldAfter, world);

test('a task moves through the list by its events', () => {
  const { row, view } = scene('plan');
  const working: AppEvent = {
    kind: 'taskChanged',
    row: { ...scene('swarm').row, id: 'plan' },
    view: { ...scene('swarm').view, id: 'plan' },
  };
  const world = after({ ...start(), view }, working);
  expect(world.rows).toHaveLength(TASKS.length);
  expect(world.rows.find((known) => known.id === row.id)?.group).toBe('working');
  expect(world.view?.stage).toBe('swarm');
});

test('a task that is not open changes its row only', () => {
  const { row, view } = scene('swarm');
  expect(after(start(), { kind: 'taskChanged', row, view }).view).toBeNull();
});

test('new rows stand where their time puts them', () => {
  const rows = [30, 20, 10].map((at) => ({ ...scene('plan').row, id: `t${at}`, submittedAt: at }));
  const order = (at: number) =>
    rowsAfter(rows, { ...scene('plan').row, id: 'new', submittedAt: at }).map((row) => row.id);
  expect(order(40)[0]).toBe('new');
  expect(order(15)).toEqual(['t30', 't20', 'new', 't10']);
  expect(order(5).at(-1)).toBe('new');
});

test('groups come in the order of urgency, and none is empty', () => {
  const groups = grouped(TASKS.map((task) => task.row));
  expect(groups.map((group) => group.group)).toEqual(['needsYou', 'working', 'waiting', 'earlier']);
  expect(grouped([])).toEqual([]);
});

test('hunks survive a view that did not look at them', () => {
  const { view } = scene('ready');
  expect(viewAfter(view, { ...view, hunks: null }).hunks).toHaveLength(3);
  expect(viewAfter(null, { ...view, hunks: null }).hunks).toBeNull();
  expect(viewAfter(view, { ...view, id: 'other', hunks: null }).hunks).toBeNull();
});

test('token streams are joined, cut and dropped when the task rests', () => {
  const text = (candidate: number, text: string): AppEvent => ({
    kind: 'progress',
    task: 'swarm',
    progress: { kind: 'text', role: 'executor', candidate, text },
  });
  const speed: AppEvent = {
    kind: 'progress',
    task: 'swarm',
    progress: { kind: 'speed', role: 'executor', tokensPerSecond: 120, live: 4 },
  };
  const world = after(start(), text(1, 'def '), text(1, 'f():'), text(2, 'x'.repeat(5_000)), speed);
  expect(world.live.swarm?.texts[1]).toBe('def f():');
  expect(world.live.swarm?.texts[2]?.length).toBeLessThan(1_000);
  expect(world.live.swarm?.speeds).toEqual([120]);
  const rested = after(world, { kind: 'rowChanged', row: { ...scene('packet').row, id: 'swarm' } });
  expect(rested.live).toEqual({});
});

test('one notice for one task, and a snapshot keeps what is open', () => {
  const notice = (text: string): AppEvent => ({ kind: 'notice', notice: { kind: 'needsYou', task: 'plan', text } });
  const world = after({ ...start(), view: scene('plan').view }, notice('a'), notice('b'));
  expect(world.notices.map((known) => known.text)).toEqual(['b']);
  const again = after(world, { kind: 'snapshot', snapshot: { ...snapshot(2), tasks: [] } });
  expect([again.rows.length, again.view?.id]).toEqual([0, 'plan']);
});

test('downloads are kept by model', () => {
  const download = { model: 'm', doneBytes: 1, totalBytes: 2, state: { kind: 'running' as const } };
  expect(after(start(), { kind: 'download', download }).downloads.m).toEqual(download);
});

test.each([
  ['plan', 'plan', 'you'],
  ['swarm', 'swarm', 'now'],
  ['packet', 'review', 'you'],
  ['change', 'change', 'you'],
])('%s is at %s (%s)', (id, place, mark) => {
  const { view } = scene(id);
  expect(placeOf(view)).toBe(place);
  expect(marks(view)[placeOf(view)]).toBe(mark);
});

test('a landed task has its whole way behind it, a failed one only what it reached', () => {
  expect(Object.values(marks(scene('landed').view))).toEqual(Array(7).fill('done'));
  expect(marks(scene('failed').view)).toMatchObject({ plan: 'done', swarm: 'open', change: 'open' });
});

test('steps are reordered, removed and checked against what they need', () => {
  const { plan } = scene('plan').view;
  if (!plan) throw new Error('a plan');
  const steps = editOf(plan);
  const ids = (list: typeof steps) => list.map((step) => step.id).join('');
  expect(ids(moved(steps, '2', -1))).toBe('213');
  expect(ids(moved(steps, '1', -1))).toBe('123');
  expect(ids(without(steps, '2'))).toBe('13');
  expect(outOfOrder(plan, steps)).toBeNull();
  expect(outOfOrder(plan, moved(steps, '2', -1))).toEqual({ step: '2', needs: '1' });
  expect(outOfOrder(plan, without(steps, '1'))).toBeNull();
});

test('choices of hunks', () => {
  const hunks = scene('change').view.hunks ?? [];
  expect(accepted({ 0: 'accepted', 1: 'returned', 2: 'accepted' }, hunks)).toEqual([0, 2]);
  expect(nextOpen(hunks, { 0: 'accepted' }, 0)).toBe(1);
  expect(nextOpen(hunks, { 1: 'accepted', 2: 'accepted' }, 2)).toBe(0);
  expect(nextOpen(hunks, { 0: 'accepted', 1: 'accepted', 2: 'returned' }, 2)).toBe(2);
});

test('lines are numbered on both sides and marked where they differ', () => {
  const lines = (texts: string[]) =>
    texts.map((text) => ({
      mark: ({ '+': 'added', '-': 'removed' } as const)[text[0] ?? ''] ?? ('same' as const),
      text: text.slice(1),
    }));
  const hunk = {
    oldStart: 10,
    newStart: 20,
    lines: lines([' a', '-x = round(y, 2)', '+x = round(y, 3)', '-totally', '+different thing', ' b']),
  } as HunkView;
  const got = numbered(hunk).map((line) => [line.old, line.new, line.text.slice(line.from, line.to)]);
  expect(got).toEqual([
    [10, 20, ''],
    [11, null, '2'],
    [null, 21, '3'],
    [12, null, ''],
    [null, 22, ''],
    [13, 23, ''],
  ]);
});
