// Path parameter that identifies a plugin by its install's id or its manifest's id.
import { Type } from 'typebox';

export const pluginRef = Type.String({
  pattern: '^[a-z][a-z0-9_.-]{0,99}$',
  description: "Id of the install (plg_…), or the plugin's id in its manifest.",
});
