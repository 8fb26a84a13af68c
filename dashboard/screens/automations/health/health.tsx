import type { Automation } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { text } from '../../../text/automations.ts';

export default function Health({ automation }: { readonly automation: Automation }): ReactNode {
  return <p>{automation.name} {text.never}</p>;
}
