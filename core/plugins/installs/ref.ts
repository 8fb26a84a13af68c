// How a path names a plugin: by the install's id or by the manifest's.
import { Type } from 'typebox';

export const pluginRef = Type.String({
  pattern: '^[a-z][a-z0-9_.-]{0,99}$',
  description: "An install's id (plg_…) or the manifest's id.",
});
