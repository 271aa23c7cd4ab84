/** Injected into the bundle, whose JSX becomes calls of these; see `build.ts`. */
export { Fragment, h } from 'preact';
