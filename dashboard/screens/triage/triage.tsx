import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Triage(): ReactNode {
  return <Screen title="Triage">{null}</Screen>;
}
