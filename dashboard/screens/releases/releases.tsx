import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Releases(): ReactNode {
  return <Screen title="Releases">{null}</Screen>;
}
