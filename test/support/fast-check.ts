/**
 * fast-check with a fixed seed: each run of the tests is the same, unless PROPERTY_SEED says otherwise, as
 * `npm run test:random` does. Tests import it from here.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

export * from 'fast-check';
export default fc;
