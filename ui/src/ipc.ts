// The only importer of the generated bindings and of Tauri. Everything above it sees plain functions that either give a
// value or throw an `IpcFailure`, and plain events.
import { getCurrentWebview } from '@tauri-apps/api/webview';
import { commands, events } from './bindings';
import type { AppEvent, IpcError, PlanEdit, Role, SettingsEdit } from './bindings';

export type * from './bindings';

type Answer<T> = { status: 'ok'; data: T } | { status: 'error'; error: IpcError };

export class IpcFailure extends Error {
  constructor(readonly error: IpcError) {
    super(error.message);
  }
}

async function give<T>(answer: Promise<Answer<T>>): Promise<T> {
  const got = await answer;
  if (got.status === 'ok') return got.data;
  throw new IpcFailure(got.error);
}

export const ipc = {
  snapshot: () => give(commands.getSnapshot()),
  /** Without a path a native dialog asks. */
  openProject: (path: string | null) => give(commands.openProject(path)),
  submitText: (text: string) => give(commands.submitTask(text, 'typed')),
  /** An empty list asks with the native dialog. */
  submitPaths: (paths: string[]) => give(commands.submitPaths(paths)),
  task: (id: string) => give(commands.getTask(id)),
  decidePlan: (id: string, plan: PlanEdit | null) => give(commands.decidePlan(id, plan)),
  decidePacket: (id: string, send: boolean) => give(commands.decidePacket(id, send)),
  land: (id: string, hunks: number[]) => give(commands.landHunks(id, hunks)),
  discard: (id: string) => give(commands.discardTask(id)),
  cancel: (id: string) => give(commands.cancelTask(id)),
  stopAll: () => give(commands.stopAll()),
  resume: (id: string) => give(commands.resumeTask(id)),
  models: () => give(commands.listModels()),
  getModel: (name: string) => give(commands.getModel(name)),
  bind: (role: Role, model: string | null) => give(commands.bindRole(role, model)),
  metrics: () => give(commands.getMetrics()),
  egress: () => give(commands.getEgress()),
  setSettings: (edit: SettingsEdit) => give(commands.setSettings(edit)),
  setKey: (provider: string, key: string) => give(commands.setKey(provider, key)),
  doctor: () => give(commands.doctor()),
  seen: (id: string) => give(commands.seen(id)),
};

/** What went wrong, whatever was thrown. */
export function asError(thrown: unknown): IpcError {
  if (thrown instanceof IpcFailure) return thrown.error;
  return { code: 'internal', message: thrown instanceof Error ? thrown.message : String(thrown), hint: '' };
}

export function onAppEvent(hear: (event: AppEvent) => void): Promise<() => void> {
  return events.happened.listen((event) => hear(event.payload));
}

export type Drag = { over: boolean; names: string[] };

/** Files held over the window. What is dropped is read in Rust, not here. */
export function onFileDrag(hear: (drag: Drag) => void): Promise<() => void> {
  return getCurrentWebview().onDragDropEvent(({ payload }) => {
    if (payload.type === 'enter') hear({ over: true, names: payload.paths.map(fileName) });
    else if (payload.type === 'leave' || payload.type === 'drop') hear({ over: false, names: [] });
  });
}

function fileName(path: string): string {
  return path.split(/[\\/]/).pop() ?? path;
}
