// Form for one filter of a list.
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../../parts/fields.tsx';
import { MultiPicker, type Choice } from '../../parts/picker.tsx';
import { text } from '../../text/issues.ts';
import { useFilterChoices } from './choices.tsx';
import type { Chip, ChipField, ChipTest } from './filter.ts';

const testsOfLists = ['in', 'nin', 'none'] as const;
const testsOfOrder = ['gte', 'lt', 'none'] as const;
const testsOfText = ['contains'] as const;

function testsOf(field: ChipField, choices: readonly Choice[] | undefined): readonly ChipTest[] {
  if (choices) return testsOfLists;
  return field === 'title' ? testsOfText : testsOfOrder;
}

interface ChipDialogProps {
  readonly chip: Chip;
  readonly onClose: () => void;
  readonly onApply: (chip: Chip) => void;
}

export default function ChipDialog({ chip, onClose, onApply }: ChipDialogProps): ReactNode {
  const choices = useFilterChoices()[chip.field];
  const [test, setTest] = useState(chip.test);
  const [values, setValues] = useState(chip.values);
  const { field } = chip;
  const apply = async (fields: FormData): Promise<unknown> => {
    const given = choices ? values : [textOf(fields, 'value')].filter((value) => value !== '');
    if (test === 'none') onApply({ field, test, values: [] });
    else if (given.length > 0) onApply({ field, test, values: given });
    return true;
  };
  return (
    <Dialog title={text.fields[field]} isOpen onClose={onClose}>
      <Form submit={text.apply} onSubmit={apply} onDone={onClose}>
        <SelectField
          label={text.test}
          value={test}
          options={testsOf(field, choices).map((one) => [one, text.tests[one]])}
          onPick={(picked) => setTest(picked as ChipTest)}
        />
        {test !== 'none' && choices && (
          <MultiPicker label={text.fields[field]} choices={choices} values={values} onPick={setValues} />
        )}
        {test !== 'none' && !choices && (
          <TextField
            label={text.value}
            name="value"
            type={inputOf(field)}
            defaultValue={values[0]}
            required
          />
        )}
      </Form>
    </Dialog>
  );
}

function inputOf(field: ChipField): string {
  if (field === 'title') return 'text';
  return field === 'estimate' ? 'number' : 'date';
}
