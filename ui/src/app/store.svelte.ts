// The page's state and what a person can do: one world folded from events, one route, one error at a time.
import { setLanguage } from '../i18n/index.svelte';
import { asError, ipc, onAppEvent, onFileDrag } from '../ipc';
import type { AppEvent, DoctorView, EgressView, IpcError, MetricsView, NoticeView, SettingsEdit } from '../ipc';
import { viewAfter } from '../state/tasks';
import { worldAfter, worldOf, type World } from '../state/world';
import { setTheme } from './theme';

export type Place = 'tasks' | 'models' | 'metrics' | 'settings';
export const PLACES: Place[] = ['tasks', 'models', 'metrics', 'settings'];
export type Sheet = 'palette' | 'keys' | 'egress' | null;

export class Store {
  world = $state.raw<World | null>(null);
  place = $state<Place>('tasks');
  task = $state<string | null>(null);
  sheet = $state<Sheet>(null);
  error = $state.raw<IpcError | null>(null);
  /** Names of files held over the window, or `null`. */
  drag = $state.raw<string[] | null>(null);
  busy = $state(false);
  metrics = $state.raw<MetricsView | null>(null);
  egress = $state.raw<EgressView | null>(null);
  doctor = $state.raw<DoctorView | null>(null);
  now = $state(Date.now());
  /** For live regions: at most one line every five seconds. */
  polite = $state('');
  urgent = $state('');

  async start(): Promise<void> {
    // Listening first: nothing that happens while the snapshot is made is lost.
    const early: AppEvent[] = [];
    await onAppEvent((event) => (this.world ? this.hear(event) : early.push(event)));
    await onFileDrag((drag) => (this.drag = drag.over ? drag.names : null));
    await this.load();
    early.forEach((event) => this.hear(event));
    setInterval(() => (this.now = Date.now()), 30_000);
  }

  load = (): Promise<boolean> =>
    this.try(async () => {
      this.world = worldOf(await ipc.snapshot());
      this.wear();
    });

  hear(event: AppEvent): void {
    if (!this.world) return;
    const before = this.world;
    this.world = worldAfter(before, event);
    if (event.kind === 'open') void this.open(event.task);
    if (event.kind === 'snapshot') this.wear();
    if (event.kind === 'notice') this.told(event.notice);
    if (event.kind === 'download' && event.download.state.kind === 'done') void this.reloadModels();
    const { view } = this.world;
    const decides = view?.stage === 'decide' || view?.stage === 'landed';
    if (view && view !== before.view && decides && view.hunks === null) void this.look(view.id);
  }

  /** Said aloud; whoever looks at the task already has seen it. */
  private told(notice: NoticeView): void {
    this.urgent = notice.text;
    if (notice.task && notice.task === this.task && !document.hidden) this.seen(notice);
  }

  go(place: Place): void {
    this.place = place;
    this.sheet = null;
    this.close();
    if (place === 'metrics') void this.try(async () => void (this.metrics = await ipc.metrics()));
    if (place === 'models') void this.reloadModels();
  }

  async open(id: string): Promise<void> {
    this.place = 'tasks';
    this.sheet = null;
    await this.look(id);
    if (this.world?.view?.id === id) {
      this.task = id;
      this.clear(id);
      await this.try(() => ipc.seen(id));
    }
  }

  close(): void {
    this.task = null;
    if (this.world) this.world = { ...this.world, view: null };
  }

  /** The task in full, with its hunks. */
  private look(id: string): Promise<boolean> {
    return this.try(async () => {
      const view = await ipc.task(id);
      if (this.world) this.world = { ...this.world, view: viewAfter(this.world.view, view) };
    });
  }

  private clear(id: string): void {
    if (!this.world) return;
    this.world = { ...this.world, notices: this.world.notices.filter((notice) => notice.task !== id) };
  }

  seen(notice: NoticeView): void {
    if (this.world) this.world = { ...this.world, notices: this.world.notices.filter((known) => known !== notice) };
    // Without a task it was about everything else.
    void this.try(() => ipc.seen(notice.task ?? ''));
  }

  readTask = async (text: string): Promise<boolean> => {
    let id = '';
    const done = await this.try(async () => void (id = await ipc.submitText(text)));
    if (done) await this.open(id);
    return done;
  };

  openFiles = (): Promise<boolean> => this.try(() => ipc.submitPaths([]));

  openProject = (): Promise<boolean> =>
    this.try(async () => {
      const project = await ipc.openProject(null);
      if (project) this.world = worldOf(await ipc.snapshot());
    });

  /** One act on the open task at a time; the view is fetched again, so that a lost event cannot leave it stale. */
  act = (work: (id: string) => Promise<unknown>): void => {
    const id = this.task;
    if (!id || this.busy) return;
    this.busy = true;
    void this.try(() => work(id))
      .then(() => (this.task === id ? this.look(id) : false))
      .finally(() => (this.busy = false));
  };

  stopAll = (): Promise<boolean> => this.try(() => ipc.stopAll());

  edit = (edit: SettingsEdit): Promise<boolean> =>
    this.try(async () => {
      const settings = await ipc.setSettings(edit);
      if (!this.world) return;
      const project = this.world.project && { ...this.world.project, trusted: settings.edit.trusted };
      this.world = { ...this.world, settings, project };
      this.wear();
    });

  setKey = (provider: string, key: string): Promise<boolean> =>
    this.try(async () => {
      const settings = await ipc.setKey(provider, key);
      if (this.world) this.world = { ...this.world, settings };
    });

  bind = (role: Parameters<typeof ipc.bind>[0], model: string | null): Promise<boolean> =>
    this.try(async () => {
      const models = await ipc.bind(role, model);
      if (this.world) this.world = { ...this.world, models };
    });

  getModel = (name: string): Promise<boolean> => this.try(() => ipc.getModel(name));
  runDoctor = (): Promise<boolean> => this.try(async () => void (this.doctor = await ipc.doctor()));

  showEgress(): void {
    this.sheet = 'egress';
    void this.try(async () => void (this.egress = await ipc.egress()));
  }

  private reloadModels(): Promise<boolean> {
    return this.try(async () => {
      const models = await ipc.models();
      if (this.world) this.world = { ...this.world, models };
    });
  }

  private wear(): void {
    if (!this.world) return;
    const { settings } = this.world;
    setLanguage(settings.edit.language || settings.language);
    setTheme(settings.edit.theme);
  }

  private async try(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (thrown) {
      this.error = asError(thrown);
      return false;
    }
  }
}
