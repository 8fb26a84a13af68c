import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Sla(): ReactNode {
  return <Screen title="Sla">{null}</Screen>;
}
