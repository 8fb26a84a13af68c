import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Release(): ReactNode {
  return <Screen title="Release">{null}</Screen>;
}
