// Event types that plugins can subscribe to: all except those about plugin runs, because a plugin would
// trigger itself with these.
import { EVENT_TYPES, type EventType } from '../generated/events.ts';

const ofRuns = ['automation.run', 'automation.failed'] as const satisfies readonly EventType[];

export type PluginEventType = Exclude<EventType, (typeof ofRuns)[number]>;

export function isRunEvent(type: string): boolean {
  return ofRuns.some((one) => one === type);
}

export const pluginEventTypes = EVENT_TYPES.filter((type): type is PluginEventType => !isRunEvent(type));
