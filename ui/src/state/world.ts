// Everything the page knows: one fold over what the app says. Pure, so recorded events give the same page every time.
import type {
  AppEvent,
  DownloadView,
  ModelsView,
  NoticeView,
  ProjectView,
  SettingsView,
  Snapshot,
  StatusView,
  TaskRow,
  TaskView,
} from '../ipc';
import { liveAfter, type Live } from './live';
import { rowsAfter, viewAfter } from './tasks';

export interface World {
  version: string;
  project: ProjectView | null;
  status: StatusView;
  rows: TaskRow[];
  models: ModelsView;
  settings: SettingsView;
  notices: NoticeView[];
  live: Record<string, Live>;
  downloads: Record<string, DownloadView>;
  /** The open task. */
  view: TaskView | null;
}

export function worldOf(snapshot: Snapshot): World {
  const { version, project, status, tasks, models, settings, notices } = snapshot;
  return { version, project, status, rows: tasks, models, settings, notices, live: {}, downloads: {}, view: null };
}

export function worldAfter(world: World, event: AppEvent): World {
  switch (event.kind) {
    case 'taskChanged': {
      const open = world.view?.id === event.view.id;
      const view = open ? viewAfter(world.view, event.view) : world.view;
      return rested({ ...world, view, rows: rowsAfter(world.rows, event.row) }, event.row);
    }
    case 'rowChanged':
      return rested({ ...world, rows: rowsAfter(world.rows, event.row) }, event.row);
    case 'progress': {
      const live = liveAfter(world.live[event.task], event.progress);
      return { ...world, live: { ...world.live, [event.task]: live } };
    }
    case 'download':
      return { ...world, downloads: { ...world.downloads, [event.download.model]: event.download } };
    case 'notice':
      return { ...world, notices: noticesAfter(world.notices, event.notice) };
    case 'status':
      return { ...world, status: event.status };
    case 'snapshot':
      return { ...worldOf(event.snapshot), live: world.live, downloads: world.downloads, view: world.view };
    case 'open':
      return world;
  }
}

/** One notice for one task: the last word counts. */
export function noticesAfter(notices: NoticeView[], notice: NoticeView): NoticeView[] {
  const others = notices.filter((known) => known.task === null || known.task !== notice.task);
  return [notice, ...others].slice(0, 20);
}

function rested(world: World, row: TaskRow): World {
  if (row.group === 'working' || !(row.id in world.live)) return world;
  const live = Object.fromEntries(Object.entries(world.live).filter(([id]) => id !== row.id));
  return { ...world, live };
}
