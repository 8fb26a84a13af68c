// When: the trigger of a rule.
import { useRef, useState, type ReactNode } from 'react';
import { FieldGroup, SelectField, TextField } from '../../../parts/fields.tsx';
import { fieldsOfEvents } from '../../../parts/filter/event-fields.ts';
import { chipFields } from '../../../parts/filter/filter.ts';
import { wordsOfName } from '../../../text/common.ts';
import { text } from '../../../text/automation-editor.ts';
import { text as words } from '../../../text/automation-rule.ts';
import { eventGroups, eventWords, isChange } from '../rule/events.ts';
import { partOf, textOf, textsOf, withMember, type Part } from '../rule/rule.ts';
import { cronOf, timesOf, type Frequency, type Times } from '../rule/schedule.ts';
import { FilterField, ListField, ownZone, ZoneField } from './inputs.tsx';

interface TriggerProps {
  readonly trigger: Part;
  readonly onChange: (trigger: Part) => void;
}

/** Triggers as they are when a person chooses their type. */
const newTriggers: Readonly<Record<string, Part>> = {
  event: { type: 'event', event: 'issue.created' },
  schedule: { type: 'schedule', cron: '0 9 * * 1-5', timeZone: ownZone },
  unchanged: { type: 'unchanged', days: 14 },
  webhook: { type: 'webhook' },
  manual: { type: 'manual' },
};

export function TriggerFields({ trigger, onChange }: TriggerProps): ReactNode {
  const type = textOf(trigger, 'type');
  // A person may look at another type, and return to what was chosen before.
  const lastTriggers = useRef<Readonly<Record<string, Part>>>(newTriggers);
  const pick = (picked: string): void => {
    lastTriggers.current = { ...lastTriggers.current, [type]: trigger };
    onChange(lastTriggers.current[picked]!);
  };
  return (
    <>
      <SelectField
        label={text.startsWhen}
        name="trigger.type"
        value={type}
        options={Object.entries(words.triggers)}
        onPick={pick}
      />
      <OneTrigger trigger={trigger} onChange={onChange} />
    </>
  );
}

function OneTrigger({ trigger, onChange }: TriggerProps): ReactNode {
  switch (trigger.type) {
    case 'event':
      return <EventFields trigger={trigger} onChange={onChange} />;
    case 'schedule':
      return <ScheduleFields trigger={trigger} onChange={onChange} />;
    case 'unchanged':
      return (
        <TextField
          label={text.days}
          name="trigger.days"
          type="number"
          min={1}
          max={365}
          value={String(trigger.days)}
          onChange={({ target }) => onChange({ ...trigger, days: Number(target.value) })}
          required
        />
      );
    case 'webhook':
      return (
        <p className="soft">
          {text.webhookHint} {text.webhookAddress}
        </p>
      );
    default:
      return <p className="soft">{text.manualHint}</p>;
  }
}

function EventFields({ trigger, onChange }: TriggerProps): ReactNode {
  const event = textOf(trigger, 'event');
  const filter = partOf(trigger, 'filter');
  const fields = fieldsOfEvents([event]);
  // Conditions on the issue itself are in the block "If".
  const hasFilter = filter !== undefined || (!event.startsWith('issue.') && fields.length > 0);
  return (
    <>
      <EventSelect value={event} onPick={(picked) => onChange({ type: 'event', event: picked })} />
      {hasFilter && (
        <FilterField
          label={text.onlyEvents}
          name="trigger.filter"
          filter={filter}
          fields={fields}
          onChange={(next) => onChange(withMember(trigger, 'filter', next))}
        />
      )}
      {isChange(event) && <ChangeFields trigger={trigger} onChange={onChange} />}
    </>
  );
}

function EventSelect({
  value,
  onPick,
}: {
  readonly value: string;
  readonly onPick: (event: string) => void;
}): ReactNode {
  const isOffered = eventGroups.some(({ types }) => types.includes(value));
  return (
    <label className="field">
      <span>{text.event}</span>
      <select name="trigger.event" value={value} onChange={({ target }) => onPick(target.value)}>
        {!isOffered && <option value={value}>{value}</option>}
        {eventGroups.map(({ name, types }) => (
          <optgroup key={name} label={name}>
            {types.map((type) => (
              <option key={type} value={type}>
                {eventWords(type)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

const fieldChoices = [
  'state',
  'assignee',
  'priority',
  'labels',
  'title',
  'description',
  'project',
  'milestone',
]
  .concat(['cycle', 'parent', 'estimate', 'dueDate'])
  .map((id) => ({ id, name: wordsOfName(id) }));

/** Tests of the change itself: its fields, and the object before and after it. */
function ChangeFields({ trigger, onChange }: TriggerProps): ReactNode {
  const event = textOf(trigger, 'event');
  const fields = fieldsOfEvents([event]).filter(
    (field) => !['createdAt', 'updatedAt', 'creator'].includes(field),
  );
  return (
    <>
      {event === 'issue.updated' && (
        <ListField
          label={text.changed}
          name="trigger.changed"
          empty={text.anyField}
          choices={fieldChoices}
          values={textsOf(trigger, 'changed')}
          onPick={(changed) =>
            onChange(withMember(trigger, 'changed', changed.length > 0 ? changed : undefined))
          }
        />
      )}
      {fields.length > 0 && (
        <FieldGroup label={text.transitionHint} name="trigger.transition">
          {(['from', 'to'] as const).map((side) => (
            <FilterField
              key={side}
              label={text[side]}
              name={`trigger.${side}`}
              filter={partOf(trigger, side)}
              fields={fields.length === chipFields.length ? chipFields : fields}
              onChange={(next) => onChange(withMember(trigger, side, next))}
            />
          ))}
        </FieldGroup>
      )}
    </>
  );
}

function ScheduleFields({ trigger, onChange }: TriggerProps): ReactNode {
  const cron = textOf(trigger, 'cron');
  const stored = timesOf(cron);
  // A cron text that a person types may look like one of the choices before it is complete.
  const [isCron, setCron] = useState(stored.frequency === 'cron');
  const times = isCron ? { ...stored, frequency: 'cron' as const } : stored;
  const pick = (next: Partial<Times>): void =>
    onChange({ ...trigger, cron: cronOf({ ...stored, ...next }) ?? cron });
  const pickFrequency = (frequency: Frequency): void => {
    setCron(frequency === 'cron');
    // A day of the month is no day of the week.
    pick({ frequency, day: 1 });
  };
  return (
    <>
      <SelectField
        label={text.frequency}
        value={times.frequency}
        options={Object.entries(text.frequencies)}
        onPick={(frequency) => pickFrequency(frequency as Frequency)}
      />
      <ScheduleDetails times={times} onPick={pick} />
      {times.frequency === 'cron' && (
        <TextField
          label={text.cron}
          name="trigger.cron"
          value={cron}
          onChange={({ target }) => onChange({ ...trigger, cron: target.value })}
          required
        />
      )}
      <ZoneField
        name="trigger.timeZone"
        value={textOf(trigger, 'timeZone')}
        onChange={(zone) => onChange(withMember(trigger, 'timeZone', zone === '' ? undefined : zone))}
      />
    </>
  );
}

interface DetailsProps {
  readonly times: Times;
  readonly onPick: (times: Partial<Times>) => void;
}

function ScheduleDetails({ times: { frequency, time, day }, onPick }: DetailsProps): ReactNode {
  if (frequency === 'cron') return null;
  return (
    <>
      {frequency === 'weekly' && (
        <SelectField
          label={text.weekday}
          value={String(day)}
          options={words.weekdays.map((name, at) => [String(at), name] as const)}
          onPick={(picked) => onPick({ day: Number(picked) })}
        />
      )}
      {frequency === 'monthly' && (
        <TextField
          label={text.monthDay}
          type="number"
          min={1}
          max={31}
          value={day}
          onChange={({ target }) => onPick({ day: Math.min(31, Math.max(1, Number(target.value))) })}
        />
      )}
      <TextField
        label={text.time}
        type="time"
        value={time}
        onChange={({ target }) => onPick({ time: target.value || '00:00' })}
      />
    </>
  );
}
