import { Type } from 'typebox';
import { EventResponse } from '../../../kernel/events/feed/schema.ts';
import { Closed, described, namedSchema } from '../../../platform/lib/schema.ts';

export const SampleCreate = namedSchema(
  'SampleCreate',
  Closed({
    type: Type.String({ maxLength: 60, description: 'Event type, such as `issue.created`.' }),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Fields that override those of the sample's `data`; the result must match the schema of the type.",
      }),
    ),
  }),
);

export const SampleSent = namedSchema(
  'SampleSent',
  Closed({
    listeners: Type.Integer({ minimum: 0, description: 'Number of open streams that received the sample.' }),
    event: described(EventResponse, 'Sample event.'),
  }),
);
