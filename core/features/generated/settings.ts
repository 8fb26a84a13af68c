import { pluginSettings } from '../plugins/settings.ts';
import { signInSettings } from '../sign-in/settings.ts';

export const featureSettings = { ...pluginSettings, ...signInSettings };
