// The field in which somebody who comes by a link chooses a password: its pages take the same passwords, and say so in the same words.
import { html, type Html } from '../../html/html.ts';
import { passwordMax, passwordMin } from './password-rules.ts';

/** The form sends it as `password`. */
export const newPasswordField = (label: string): Html =>
  html`<label
    >${label}<small>${passwordMin} characters or more: a few words in a row will do.</small
    ><input
      type="password"
      name="password"
      autocomplete="new-password"
      minlength="${passwordMin}"
      maxlength="${passwordMax}"
      required
  /></label>`;
