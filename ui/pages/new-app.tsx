import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Dialog, DialogButtons } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { Form } from '../components/form.tsx'
import { QrCode } from '../components/qr-code.tsx'
import { confirmApp, type Enrolment, enrolApp } from '../lib/factors.ts'
import { tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'

interface NewAppProps {
  /** @param recoveryCodes those that came with the first factor */
  readonly onAdded: (recoveryCodes: readonly string[] | undefined) => void
  readonly onClose: () => void
}

/** Adds an authenticator app: its name, then its secret as a QR code and as a text, and its first code. */
export function NewAppDialog({ onAdded, onClose }: NewAppProps) {
  const [name, setName] = useState(t('factorNameExample'))
  const [code, setCode] = useState('')
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const work = async (): Promise<void> => {
    if (enrolment) onAdded(await confirmApp(enrolment.id, code))
    else setEnrolment(await enrolApp(name))
  }
  return (
    <Dialog title={t('addApp')} onClose={onClose}>
      <Form work={work} key={enrolment?.id ?? ''}>
        {problem => {
          const error = problem === undefined ? undefined : tellProblem(problem)
          return (
            <>
              {enrolment ? (
                <>
                  <p>{t('scanCode')}</p>
                  <QrCode text={enrolment.uri} label={t('qrCode')} />
                  <p>
                    {t('manualKey')} <code class="key">{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
                  </p>
                  <Field
                    label={t('factorCode')}
                    value={code}
                    onValue={setCode}
                    autocomplete="one-time-code"
                    maxLength={20}
                    required
                    error={error}
                  />
                </>
              ) : (
                <Field
                  label={t('name')}
                  value={name}
                  onValue={setName}
                  hint={t('factorNameHint')}
                  autocomplete="off"
                  maxLength={100}
                  required
                  error={error}
                />
              )}
              <DialogButtons onClose={onClose}>
                <Button type="submit">{t(enrolment ? 'addApp' : 'continueAction')}</Button>
              </DialogButtons>
            </>
          )
        }}
      </Form>
    </Dialog>
  )
}
