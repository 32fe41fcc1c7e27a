import { bool, type Infer, message, string } from '../schema.ts'

export const defaultPrincipalData = message(
  'DefaultPrincipalData',
  { versions: '0', flexible: '0+' },
  {
    type: string('0+'),
    name: string('0+'),
    tokenAuthenticated: bool('0+'),
  },
)
export interface DefaultPrincipalData extends Infer<typeof defaultPrincipalData> {}
