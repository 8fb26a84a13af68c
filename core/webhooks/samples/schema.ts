// What asks for a sample, and what tells where it went.
import { Type } from 'typebox';
import { EventShown } from '../../events/schema.ts';
import { Closed, described, named } from '../../lib/schema.ts';

export const SampleCreate = named(
  'SampleCreate',
  Closed({
    type: Type.String({ maxLength: 60, description: 'An event type, such as `issue.created`.' }),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Fields to put over those of the sample's `data`; the whole must keep the type's schema.",
      }),
    ),
  }),
);

export const SampleSent = named(
  'SampleSent',
  Closed({
    listeners: Type.Integer({ minimum: 0, description: 'Open streams that it went to.' }),
    event: described(EventShown, 'What they were sent.'),
  }),
);
