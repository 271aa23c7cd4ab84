/** Imported for its effect: threads and programs that this process starts share the run's compile cache, as after `npm start`. */
import { enableCompileCache } from 'node:module';
import { compileCacheVariable } from './run-directories.ts';

enableCompileCache(process.env[compileCacheVariable]);
