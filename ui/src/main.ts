import { mount } from 'svelte';
import './style/tokens.css';
import './style/base.css';
import './style/window.css';
import './style/task.css';
import App from './app/App.svelte';

// Only the mock build holds recorded data; in the real one this line is compiled away.
if (import.meta.env.MODE === 'mock') (await import('./mock/start')).start();

const target = document.getElementById('app');
if (target) mount(App, { target });
