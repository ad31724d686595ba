import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog, DialogButtons } from '../../components/dialog.tsx'
import { Choice, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Await } from '../../components/page.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Problem } from '../../lib/api.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { createLink } from '../../lib/public-links.ts'
import { GeneratePassword } from '../generate-password.tsx'
import { loadRules, NewPassword, type Rules } from '../password-field.tsx'

const DAY = 86_400_000
const LIFETIMES = [7, 30, 90, 365] as const
const LIMITS = [1, 3, 10, 100] as const
const NONE = ''

interface NewLinkDialogProps {
  readonly context: string
  readonly entry: string
  readonly onCreated: () => void
  readonly onClose: () => void
}

/** Asks for the limits of a public link, and shows its address once. */
export function NewLinkDialog({ context, entry, onCreated, onClose }: NewLinkDialogProps) {
  const [url, setUrl] = useState<string>()
  const [rules, again] = useLoaded(loadRules, [])
  if (url !== undefined) {
    return (
      <ShownOnce title={t('linkCreated')} text={t('linkOnce')} label={t('publicLink')} value={url} onClose={onClose} />
    )
  }
  const create = async (wish: Wish): Promise<void> => {
    setUrl(await createLink(context, entry, wish))
    onCreated()
  }
  return (
    <Dialog title={t('createLink')} onClose={onClose}>
      <Await loaded={rules} again={again}>
        {rules => <WishForm rules={rules} onWish={create} onClose={onClose} />}
      </Await>
    </Dialog>
  )
}

interface Wish {
  readonly name?: string
  readonly password?: string
  readonly expires?: string
  readonly maxDownloads?: number
}

interface WishFormProps {
  readonly rules: Rules
  readonly onWish: (wish: Wish) => Promise<void>
  readonly onClose: () => void
}

function WishForm({ rules, onWish, onClose }: WishFormProps) {
  const [days, setDays] = useState('30')
  const [limit, setLimit] = useState(NONE)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const send = (): Promise<void> =>
    onWish({
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      ...(password === '' ? {} : { password }),
      ...(days === NONE ? {} : { expires: new Date(Date.now() + Number(days) * DAY).toISOString() }),
      ...(limit === NONE ? {} : { maxDownloads: Number(limit) }),
    })
  return (
    <Form work={send}>
      {problem => (
        <>
          <Choice
            label={t('linkLifetime')}
            value={days}
            options={[
              ...LIFETIMES.map(count => [String(count), t('days', { count })] as const),
              [NONE, t('linkForever')] as const,
            ]}
            onValue={setDays}
          />
          <Choice
            label={t('linkLimit')}
            value={limit}
            options={[
              [NONE, t('linkNoLimit')] as const,
              ...LIMITS.map(count => [String(count), String(count)] as const),
            ]}
            onValue={setLimit}
          />
          <Field
            label={t('linkNote')}
            value={name}
            onValue={setName}
            hint={t('linkNoteHint')}
            maxLength={100}
            autocomplete="off"
          />
          <NewPassword
            {...rules}
            label={t('linkPassword')}
            value={password}
            onValue={setPassword}
            error={isAboutPassword(problem) ? tellProblem(problem) : undefined}
            problem={problem}
            required={false}
            isShown
          />
          <GeneratePassword password={password} onPassword={setPassword} />
          <FormError problem={isAboutPassword(problem) ? undefined : problem} />
          <DialogButtons onClose={onClose}>
            <Button type="submit">{t('createLink')}</Button>
          </DialogButtons>
        </>
      )}
    </Form>
  )
}

const isAboutPassword = (problem: unknown): boolean =>
  problem instanceof Problem && problem.code.startsWith('password-')
