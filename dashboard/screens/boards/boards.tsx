import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Boards(): ReactNode {
  return <Screen title="Boards">{null}</Screen>;
}
