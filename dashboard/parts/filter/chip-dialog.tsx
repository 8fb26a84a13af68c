// Form for one filter of a list.
import { Combobox } from '@base-ui/react/combobox';
import { useState, type ReactNode } from 'react';
import { ChoiceItem } from '../overlay/choice-item.tsx';
import { Dialog } from '../overlay/dialog.tsx';
import { Form, SelectField, TextField, textOf } from '../fields.tsx';
import type { Choice } from '../picker.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issues.ts';
import { useFilterChoices } from './choices.tsx';
import { inputOf, testsOf, type Chip, type ChipTest } from './filter.ts';
import { choiceOf, testName } from './words.ts';

interface ChipDialogProps {
  readonly chip: Chip;
  readonly onClose: () => void;
  readonly onApply: (chip: Chip) => void;
}

export default function ChipDialog({ chip, onClose, onApply }: ChipDialogProps): ReactNode {
  const choices = useFilterChoices()[chip.field];
  const [test, setTest] = useState(chip.test);
  const [values, setValues] = useState(chip.values);
  const [isEmpty, setEmpty] = useState(false);
  const { field } = chip;
  const apply = async (fields: FormData): Promise<unknown> => {
    const given = choices ? values : [textOf(fields, 'value')].filter((value) => value !== '');
    if (test !== 'none' && given.length === 0) {
      setEmpty(true);
      return null;
    }
    onApply({ field, test, values: test === 'none' ? [] : given });
    return true;
  };
  return (
    <Dialog title={text.fields[field]} isOpen onClose={onClose}>
      <Form submit={text.apply} onSubmit={apply} onDone={onClose}>
        <SelectField
          label={text.test}
          value={test}
          options={testsOf(field).map((one) => [one, testName(field, one)])}
          onPick={(picked) => setTest(picked as ChipTest)}
        />
        {test !== 'none' && choices && (
          <Values label={text.fields[field]} choices={choices} values={values} onPick={setValues} />
        )}
        {test !== 'none' && isEmpty && values.length === 0 && (
          <p className="problem-text" role="alert">
            {text.chooseValue}
          </p>
        )}
        {test !== 'none' && !choices && (
          <TextField
            label={text.value}
            name="value"
            type={inputOf(field) ?? 'text'}
            defaultValue={values[0]}
            required
          />
        )}
      </Form>
    </Dialog>
  );
}

interface ValuesProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly values: readonly string[];
  readonly onPick: (ids: readonly string[]) => void;
}

/** Searchable list within the dialog: a popup would cover its buttons. */
function Values({ label, choices, values, onPick }: ValuesProps): ReactNode {
  // A program may have named a value otherwise, or one that no longer exists.
  const unknown = values.filter((value) => !choiceOf(choices, value)).map((id): Choice => ({ id, name: id }));
  const all = [...choices, ...unknown];
  const chosen = values.map((value) => choiceOf(all, value)!);
  return (
    <Combobox.Root
      inline
      open
      multiple
      autoHighlight
      items={all}
      value={chosen}
      onValueChange={(picked: Choice[]) => onPick(picked.map(({ id }) => id))}
      itemToStringLabel={({ name }: Choice) => name}
      isItemEqualToValue={(a: Choice, b: Choice) => a.id === b.id}
    >
      <Combobox.Input aria-label={label} placeholder={common.search} />
      {chosen.length > 0 && <p>{chosen.map(({ name }) => name).join(', ')}</p>}
      <div>
        <Combobox.Empty className="soft">{common.noMatch}</Combobox.Empty>
        <Combobox.List aria-label={label} className="scroll-box">
          {(choice: Choice) => <ChoiceItem key={choice.id} choice={choice} />}
        </Combobox.List>
      </div>
    </Combobox.Root>
  );
}
