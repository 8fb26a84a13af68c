import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Proposal(): ReactNode {
  return <Screen title="Proposal">{null}</Screen>;
}
