import { render } from 'preact';

const place = document.getElementById('page');
if (place) render(<main>Parlance</main>, place);
