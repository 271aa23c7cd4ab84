/** Every built-in engine is as prompt as the rules say. */
import { describeBuiltIns, isTimed } from './built-ins.ts';

describeBuiltIns(isTimed);
