// What the palette offers: places, acts, tasks.
import { t } from '../i18n/index.svelte';
import type { World } from '../state/world';
import type { Command } from './Palette.svelte';
import { PLACES, type Store } from './store.svelte';

export function commandsOf(store: Store, world: World, focusBox: () => void): Command[] {
  const newTask = () => {
    store.go('tasks');
    setTimeout(focusBox);
  };
  const theme = world.settings.edit.theme === 'dark' ? 'light' : 'dark';
  return [
    { id: 'new', text: t('palette.new'), icon: 'file', hint: 'N', run: newTask },
    ...PLACES.map((place, at) => ({
      id: place,
      text: t(`place.${place}`),
      icon: 'next' as const,
      hint: `Ctrl ${at + 1}`,
      run: () => store.go(place),
    })),
    { id: 'open', text: t('palette.openFile'), icon: 'file', run: () => void store.openFiles() },
    { id: 'project', text: t('header.openProject'), icon: 'folder', run: () => void store.openProject() },
    { id: 'stop', text: t('strip.stopAll'), icon: 'stop', run: () => void store.stopAll() },
    { id: 'egress', text: t('egress.title'), icon: 'leave', run: () => store.showEgress() },
    {
      id: 'theme',
      text: t(`palette.theme.${theme}`),
      icon: 'eye',
      run: () => void store.edit({ ...world.settings.edit, theme }),
    },
    { id: 'keys', text: t('keys.title'), icon: 'info', hint: '?', run: () => (store.sheet = 'keys') },
    ...world.rows.map((row) => ({
      id: `task-${row.id}`,
      text: row.title,
      icon: 'list' as const,
      run: () => void store.open(row.id),
    })),
  ];
}
