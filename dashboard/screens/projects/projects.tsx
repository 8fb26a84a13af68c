import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function Projects(): ReactNode {
  return <Screen title="Projects">{null}</Screen>;
}
