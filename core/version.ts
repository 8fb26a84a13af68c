// The version of this build: what `tatami version` prints and what plugins' `engines` are compared with.
import manifest from '../package.json' with { type: 'json' };

export const version: string = manifest.version;
