// A made-up machine and project around the recorded tasks.
import type {
  DoctorView,
  EgressView,
  MetricsView,
  ModelsView,
  ModelView,
  Role,
  ScorecardView,
  SettingsView,
  Snapshot,
  StatusView,
  TaskRow,
  TaskView,
} from '../ipc';
import recorded from './recorded.json';

/** Made by Rust from core's events; see the tests of the crate `contract`. */
export const TASKS = recorded as unknown as { row: TaskRow; view: TaskView }[];

const ROLES: Role[] = ['parser', 'planner', 'executor', 'tester', 'reviewer'];
const BIG = 'qwen2.5-coder-1.5b';
const SMALL = 'qwen2.5-coder-0.5b';

function model(part: Partial<ModelView> & { name: string }): ModelView {
  return {
    title: '',
    place: 'local',
    available: false,
    bytes: 0,
    millions: 0,
    memoryMb: 0,
    fits: true,
    licence: 'Apache-2.0',
    roles: ROLES,
    resident: false,
    pinned: true,
    tokensPerSecond: null,
    refused: '',
    ...part,
  };
}

export const MODELS: ModelsView = {
  models: [
    model({
      name: BIG,
      title: 'Qwen2.5-Coder 1.5B Instruct, Q4_K_M',
      available: true,
      resident: true,
      bytes: 1_117_320_768,
      memoryMb: 1_620,
      tokensPerSecond: 146,
    }),
    model({
      name: SMALL,
      title: 'Qwen2.5-Coder 0.5B Instruct, Q4_K_M',
      available: true,
      bytes: 491_400_064,
      memoryMb: 890,
    }),
    model({ name: 'notes', available: true, licence: '', refused: 'the file has no GGUF header', roles: [] }),
    model({
      name: 'qwen2.5-coder-7b',
      title: 'Qwen2.5-Coder 7B Instruct, Q4_K_M',
      bytes: 4_683_073_536,
      memoryMb: 6_100,
      fits: false,
    }),
    model({
      name: 'qwen2.5-coder-3b',
      title: 'Qwen2.5-Coder 3B Instruct, Q4_K_M',
      bytes: 2_104_932_768,
      memoryMb: 3_000,
    }),
  ],
  roles: ROLES.map((role) => ({ role, model: role === 'tester' ? SMALL : BIG, chosen: role === 'tester' })),
  budgetMb: 4_900,
  freeMemoryMb: 7_000,
};

export const SETTINGS: SettingsView = {
  edit: {
    language: '',
    theme: 'system',
    offline: false,
    candidates: 12,
    modelMemoryMb: 0,
    inbox: '',
    budgetDayUsd: 1,
    budgetTaskUsd: 0.25,
    cloud: { provider: '', model: '', baseUrl: '' },
    trusted: true,
    send: 'ask',
  },
  language: 'en',
  inboxFolder: '/data/starling/inbox',
  key: { kind: 'environment', name: 'ANTHROPIC_API_KEY' },
};

export const STATUS: StatusView = {
  egress: { bytes: 0, costUsd: 0 },
  resident: [{ name: BIG, memoryMb: 1_620 }],
  busy: ['swarm', 'queued'],
  paused: false,
  offline: false,
};

export function snapshot(now: number): Snapshot {
  const rows = TASKS.map(({ row }, at) => ({ ...row, submittedAt: now - at * at * 9 * 60_000 }));
  return {
    version: '0.1.0',
    project: { name: 'invoice-kit', path: '/projects/invoice-kit', branch: 'main', trusted: true },
    status: STATUS,
    tasks: rows,
    models: MODELS,
    settings: SETTINGS,
    notices: [],
  };
}

const card = (part: Partial<ScorecardView> & { role: Role }): ScorecardView => ({
  model: BIG,
  place: 'local',
  calls: 12,
  candidates: 96,
  validPercent: 94,
  gatePassPercent: null,
  inventedPercent: 4,
  retries: 1,
  overturned: 0,
  tokens: 48_200,
  tokensPerSecond: 131,
  millisP50: 4_100,
  millisP95: 9_800,
  ...part,
});

export const METRICS: MetricsView = {
  overview: {
    tasks: 12,
    ready: 7,
    localTokens: 402_118,
    cloudTokens: 9_902,
    yieldPercent: 97.6,
    costUsd: 0.083,
    egressBytes: 21_480,
  },
  cards: [
    card({ role: 'parser', validPercent: 100, millisP50: 1_100, millisP95: 1_900 }),
    card({ role: 'planner', validPercent: 88, retries: 3 }),
    card({
      role: 'executor',
      gatePassPercent: 31,
      inventedPercent: 12,
      overturned: 1,
      calls: 41,
      millisP50: 38_000,
      millisP95: 71_000,
    }),
    card({ role: 'tester', model: SMALL, gatePassPercent: 22, inventedPercent: 17, calls: 33, tokensPerSecond: 288 }),
    card({ role: 'reviewer', model: 'claude-sonnet', place: 'cloud', calls: 6, millisP50: 11_200, millisP95: 14_000 }),
  ],
  invented: [
    { name: 'Decimal.round_half_up', role: 'executor', model: BIG, task: 'swarm' },
    { name: 'invoicing.make_line', role: 'tester', model: SMALL, task: 'ready' },
  ],
};

export function egress(now: number): EgressView {
  const row = {
    host: 'api.anthropic.com',
    model: 'claude-sonnet',
    bytes: 3_412,
    sha256: '9f2c0be1'.repeat(8),
    costUsd: 0.00915,
    at: now - 40 * 60_000,
    outcome: 'sent',
  };
  return { rows: [row], bytes: 3_412, costUsd: 0.00915 };
}

export const DOCTOR: DoctorView = {
  version: '0.1.0',
  dataFolder: '/data/starling',
  cpu: 'A processor with AVX-512',
  cores: 2,
  freeMemoryMb: 7_000,
  totalMemoryMb: 15_800,
  freeDiskMb: 41_000,
  parts: [
    { name: 'sandbox', ok: true, detail: 'bubblewrap 0.8.0: no network, read-only system' },
    { name: 'kernels', ok: true, detail: 'AVX2, AVX-512, VNNI' },
    { name: 'keychain', ok: false, detail: 'no secret service answers; keys live as long as the window' },
  ],
};
