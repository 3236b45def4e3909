// Every case, in order: those of one file each.
import { access } from './access.mjs';
import { equal } from './equal.mjs';
import { modules } from './modules.mjs';
import { own } from './own.mjs';
import { play } from './play.mjs';
import { report } from './report.mjs';
import { shots } from './shots.mjs';
import { size } from './size.mjs';

export const cases = { ...size, ...modules, ...play, ...equal, ...own, ...access, ...report, ...shots };
