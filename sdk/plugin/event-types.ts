// The event types that plugins subscribe to: all but those that tell of runs, which would have a plugin run because it ran.
import { EVENT_TYPES, type EventType } from '../generated/events.ts';

const ofRuns = ['automation.run', 'automation.failed'] as const satisfies readonly EventType[];

export type PluginEventType = Exclude<EventType, (typeof ofRuns)[number]>;

export function tellsOfRun(type: string): boolean {
  return ofRuns.some((one) => one === type);
}

export const pluginEventTypes = EVENT_TYPES.filter((type): type is PluginEventType => !tellsOfRun(type));
