// The page without the app: recorded tasks behind the same IPC. `?task=ID`, `?place=models`, `?lang=ko`, `?theme=dark`,
// `?world=empty|new|untrusted|offline|error|busy` choose what is shown.
import { emit } from '@tauri-apps/api/event';
import { mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import type { AppEvent, IpcError, Snapshot, TaskView } from '../ipc';
import { DOCTOR, egress, METRICS, MODELS, snapshot, TASKS } from './snapshot';

const query = new URLSearchParams(location.search);
const fail = (code: IpcError['code'], message: string): never => {
  throw { code, message, hint: '' } satisfies IpcError;
};

function prepared(): Snapshot {
  const base = snapshot(Date.now());
  base.settings.edit.theme = (query.get('theme') ?? 'light') as 'light' | 'dark';
  base.settings.language = query.get('lang') ?? 'en';
  const world = query.get('world');
  if (world === 'new') {
    const models = { ...base.models, models: base.models.models.map((one) => ({ ...one, available: false })) };
    return { ...base, project: null, tasks: [], models, status: { ...base.status, resident: [], busy: [] } };
  }
  if (world === 'empty') return { ...base, tasks: [], status: { ...base.status, busy: [] } };
  if (world === 'untrusted' && base.project) base.project.trusted = false;
  if (world === 'offline') return { ...base, status: { ...base.status, offline: true } };
  if (world === 'busy') {
    base.status.egress = { bytes: 3_412, costUsd: 0.00915 };
    base.notices = [
      {
        kind: 'needsYou',
        task: 'plan',
        text: base.settings.language === 'ko' ? '계획이 기다려요' : 'A plan waits for you',
      },
      { kind: 'trouble', task: null, text: 'screenshot.png is not text' },
    ];
  }
  return base;
}

/** What an act leads to, so that a recorded task can be walked through. */
const NEXT: Record<string, Record<string, string>> = {
  decide_plan: { plan: 'swarm', korean: 'swarm' },
  decide_packet: { packet: 'ready' },
  land_hunks: { ready: 'landed', change: 'landed', half: 'landed' },
  discard_task: {},
  cancel_task: {},
};
const moved = new Map<string, string>();

function view(id: string): TaskView {
  const task = TASKS.find((one) => one.row.id === (moved.get(id) ?? id));
  if (!task) return fail('notFound', 'There is no such task.');
  return { ...task.view, id };
}

function answer(command: string, args: Record<string, unknown>): unknown {
  const id = String(args.id ?? '');
  switch (command) {
    case 'get_snapshot':
      return query.get('world') === 'error' ? fail('io', 'the database cannot be opened: disk full') : prepared();
    case 'get_task':
      return view(id);
    case 'submit_task':
      return 'plan';
    case 'list_models':
    case 'bind_role':
      return MODELS;
    case 'get_metrics':
      return query.get('world') === 'empty' ? { ...METRICS, overview: { ...METRICS.overview, tasks: 0 } } : METRICS;
    case 'get_egress':
      return egress(Date.now());
    case 'set_settings':
      return { ...prepared().settings, edit: args.edit };
    case 'get_settings':
    case 'set_key':
      return prepared().settings;
    case 'doctor':
      return DOCTOR;
    case 'land_hunks':
      moved.set(id, NEXT.land_hunks?.[id] ?? id);
      return { files: 3, outsideIdentical: true, encodingKept: true };
    default:
      moved.set(id, NEXT[command]?.[id] ?? id);
      return null;
  }
}

const hear = (event: AppEvent) => emit('happened', event);

async function play(): Promise<void> {
  const speeds = [88, 120, 131, 118, 150, 139, 144, 152, 141, 149, 146];
  await hear({
    kind: 'progress',
    task: 'swarm',
    progress: { kind: 'roleStarted', role: 'executor', model: 'qwen2.5-coder-1.5b', candidates: 6 },
  });
  for (const tokensPerSecond of speeds) {
    await hear({
      kind: 'progress',
      task: 'swarm',
      progress: { kind: 'speed', role: 'executor', tokensPerSecond, live: 5 },
    });
  }
  const text =
    'def tax_by_rate(lines):\n    by_rate = defaultdict(Decimal)\n    for line in lines:\n        by_rate[line.rate] +=';
  await hear({ kind: 'progress', task: 'swarm', progress: { kind: 'text', role: 'executor', candidate: 1, text } });
  const download = {
    model: 'qwen2.5-coder-3b',
    doneBytes: 812_000_000,
    totalBytes: 2_104_932_768,
    state: { kind: 'running' as const },
  };
  await hear({ kind: 'download', download });
  const task = query.get('task');
  if (task) await hear({ kind: 'open', task });
  const place = query.get('place');
  if (place) document.querySelector<HTMLElement>(`[data-testid="tab-${place}"]`)?.click();
  if (query.has('drag'))
    await emit('tauri://drag-enter', {
      paths: ['/in/vat-rounding.md', '/in/견적서-번호.txt'],
      position: { x: 1, y: 1 },
    });
  document.documentElement.dataset.played = 'yes';
}

export function start(): void {
  mockWindows('main');
  mockIPC((command, args) => answer(command, (args ?? {}) as Record<string, unknown>), { shouldMockEvents: true });
  const timer = setInterval(() => {
    if (!document.querySelector('[data-testid="egress-badge"], [data-testid="error"]')) return;
    clearInterval(timer);
    void play();
  }, 20);
}
