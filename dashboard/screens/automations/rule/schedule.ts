// Cron texts as choices: how often, on which day and at what time.

export type Frequency = 'daily' | 'weekdays' | 'weekly' | 'monthly' | 'hourly' | 'cron';

export interface Times {
  readonly frequency: Frequency;
  /** Minute and hour such as 09:00. */
  readonly time: string;
  /** Day of the week for `weekly`, 0 is Sunday; day of the month for `monthly`. */
  readonly day: number;
}

const defaultTimes: Times = { frequency: 'weekdays', time: '09:00', day: 1 };

const two = (value: string | number): string => String(value).padStart(2, '0');
const patterns: readonly (readonly [Frequency, RegExp])[] = [
  ['hourly', /^(\d{1,2}) \* \* \* \*$/],
  ['daily', /^(\d{1,2}) (\d{1,2}) \* \* \*$/],
  ['weekdays', /^(\d{1,2}) (\d{1,2}) \* \* 1-5$/],
  ['weekly', /^(\d{1,2}) (\d{1,2}) \* \* ([0-6])$/],
  ['monthly', /^(\d{1,2}) (\d{1,2}) ([1-9]\d?) \* \*$/],
];

const isTime = (minute: number, hour: number, day: number): boolean => minute < 60 && hour < 24 && day <= 31;

/** Returns the choices of a cron text; `cron` for one that has none. */
export function timesOf(cron: string): Times {
  for (const [frequency, pattern] of patterns) {
    const [, minute, hour = '0', day = '1'] = pattern.exec(cron.trim()) ?? [];
    if (minute !== undefined && isTime(Number(minute), Number(hour), Number(day)))
      return { frequency, time: `${two(hour)}:${two(minute)}`, day: Number(day) };
  }
  return { ...defaultTimes, frequency: 'cron' };
}

/** Returns the cron text of choices; null for `cron`, which the person writes. */
export function cronOf({ frequency, time, day }: Times): string | null {
  const [hour, minute] = time.split(':').map(Number);
  const at = `${minute ?? 0} ${hour ?? 0}`;
  switch (frequency) {
    case 'hourly':
      return `${minute ?? 0} * * * *`;
    case 'daily':
      return `${at} * * *`;
    case 'weekdays':
      return `${at} * * 1-5`;
    case 'weekly':
      return `${at} * * ${day}`;
    case 'monthly':
      return `${at} ${day} * *`;
    case 'cron':
      return null;
  }
}
