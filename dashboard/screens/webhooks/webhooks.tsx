import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Webhooks(): ReactNode {
  return <Screen title="Webhooks">{null}</Screen>;
}
