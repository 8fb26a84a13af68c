import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Webhook(): ReactNode {
  return <Screen title="Webhook">{null}</Screen>;
}
