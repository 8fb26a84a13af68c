import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Proposals(): ReactNode {
  return <Screen title="Proposals">{null}</Screen>;
}
