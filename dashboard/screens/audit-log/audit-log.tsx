import type { ReactNode } from 'react';
import { Screen } from '../../parts/states.tsx';

export default function AuditLog(): ReactNode {
  return <Screen title="AuditLog">{null}</Screen>;
}
