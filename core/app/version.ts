// Version of this build, compared with `engines` of plugins.
import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
