/** Starts the page. */
import './app.tsx';
