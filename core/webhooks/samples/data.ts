// Builds the data of a sample: from the fixtures, or from the examples of the contract for a resource without
// fixtures.
import type { TObject, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import type { Contract } from '../../contract/contract.ts';
import { contracts, eventsOf } from '../../contracts.ts';
import type { SampleMoment, SampleSetting, SampleFields } from './fixtures.ts';
import { scenarioOf } from './scenario.ts';
import { dayMs } from '../../lib/time.ts';

/** Returns the known fields; the caller fills in the rest of the schema. */
export function sampleData(
  { type, envelope }: { readonly type: string; readonly envelope: TSchema },
  setting: SampleSetting,
): SampleFields {
  const { properties } = (envelope as TObject).properties.data as TObject;
  const contract = contracts.find(({ events }) => eventsOf(events).includes(type));
  const { objects, moments } = scenarioOf(setting);
  const object = objects[type] ?? objects[contract?.name ?? ''] ?? contract?.examples?.create ?? {};
  const { now, previous } = moments[type] ?? plainMoment(contract, type, object as SampleFields);
  const isChange = 'previous' in properties;
  const changed = isChange ? { previous: fitting(previous ?? {}, properties), ...agesOf(setting) } : {};
  return fitting({ ...object, ...now, ...changed }, properties);
}

/** Returns an update made from the contract's examples; empty for other event types. */
function plainMoment(contract: Contract | undefined, type: string, object: SampleFields): SampleMoment {
  if (!contract || type !== contract.events.updated) return {};
  const now: SampleFields = { ...contract.examples?.update };
  return { now, previous: Object.fromEntries(Object.keys(now).map((name) => [name, object[name]])) };
}

/** Returns the version and creation time of an object that was changed once, two days after its creation. */
function agesOf({ nowMs }: SampleSetting): SampleFields {
  return { version: 2, createdAt: new Date(nowMs - 2 * dayMs).toISOString() };
}

/** Omits values whose format differs between requests and responses, such as references in examples. */
function fitting(values: SampleFields, properties: TObject['properties']): SampleFields {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => {
      const schema = properties[name];
      return schema !== undefined && Check(schema, value);
    }),
  );
}
